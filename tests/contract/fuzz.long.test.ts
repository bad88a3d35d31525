import { describeFuzz } from './fuzz.ts';
import { embeddedForTests } from './start-embedded.ts';

describe('the embedded platform, asked at random for longer, answers', () => {
  const platform = embeddedForTests();

  // Other requests at each run; what fails names its seed.
  describeFuzz(platform, { runs: 5_000, seed: Date.now() & 0x7fff_ffff });
});
