import { describeLoginLimit } from './accounts.ts';
import { describeConcurrency } from './concurrency.ts';
import { describeKeyRotation } from './key-rotation.ts';
import { platformForTests } from './platform-for-tests.ts';

/** Where the product in one process could differ: limits in memory, a database and keys of its own. */
describe('the platform in one process, as "npm start" runs it,', () => {
  const platform = platformForTests('start');

  describeLoginLimit(platform);
  describeConcurrency(platform);
  describeKeyRotation(platform);
});
