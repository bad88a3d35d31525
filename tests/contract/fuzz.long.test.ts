import { describeFuzz } from './fuzz.ts';
import { platformForTests } from './platform-for-tests.ts';

describe('the embedded platform in a longer fuzz test', () => {
  const platform = platformForTests('start');

  // Every run draws other requests; a failure prints its seed.
  describeFuzz(platform, { runs: 5_000, seed: Date.now() & 0x7fff_ffff });
});
