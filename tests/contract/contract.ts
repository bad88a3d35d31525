import { describeAccounts } from './accounts.ts';
import { describeConcurrency } from './concurrency.ts';
import { describeNoCors } from './cors.ts';
import { describeEdges } from './edges.ts';
import { describeFullTasks } from './full-tasks.ts';
import { describeGraphql } from './graphql.ts';
import type { Platform } from './platform.ts';
import { describeRecovery } from './recovery.ts';
import { describeReducedTasks } from './reduced-tasks.ts';
import { describeTokens } from './tokens.ts';

/** The whole interface as the documents have it, asked of a product with the default settings. */
export function describeContract(platform: () => Platform) {
  describeAccounts(platform);
  describeTokens(platform);
  describeRecovery(platform);
  describeFullTasks(platform, '/api');
  describeFullTasks(platform, '/full/api');
  describeReducedTasks(platform, '/reduced/api');
  describeEdges(platform);
  describeNoCors(platform);
  describeGraphql(platform);
  describeConcurrency(platform);
}
