import { describeFuzz } from './fuzz.ts';
import { platformForTests } from './platform-for-tests.ts';

describe('the embedded platform, asked at random for longer, answers', () => {
  const platform = platformForTests('start');

  // Other requests at each run; what fails names its seed.
  describeFuzz(platform, { runs: 5_000, seed: Date.now() & 0x7fff_ffff });
});
