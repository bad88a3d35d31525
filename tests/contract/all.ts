import type { ApiDescription } from '@taskmesh/testing/api-description';
import { describeAccounts, describeLoginLimit } from './accounts.ts';
import { clientOf, type Platform } from './client.ts';
import { describeCompression } from './compression.ts';
import { describeConcurrency } from './concurrency.ts';
import { describeNoCors } from './cors.ts';
import { describeEdges } from './edges.ts';
import { describeFullTasks } from './full-tasks.ts';
import { describeGraphql } from './graphql.ts';
import { describeOwnAccount } from './own-account.ts';
import { describeRecovery } from './recovery.ts';
import { describeReducedTasks } from './reduced-tasks.ts';
import { describeTokens } from './tokens.ts';

/** The whole interface, as documented. */
export function describeContract(platform: () => Platform) {
  const client = clientOf(platform);

  describeAccounts(platform);
  describeLoginLimit(platform);
  describeOwnAccount(platform);
  describeTokens(platform);
  describeRecovery(platform);
  describeFullTasks(platform, '/api');
  describeReducedTasks(platform, '/reduced/api');
  describeEdges(platform);
  describeNoCors(platform);
  describeCompression(platform);
  describeGraphql(platform);
  describeConcurrency(platform);

  it('returned every documented success in the tests above', async () => {
    const { body } = await client.call<ApiDescription>('GET', '/api/openapi.json');
    const { covered } = platform().description;
    for (const [path, operations] of Object.entries(body.paths))
      for (const [method, { tags, responses }] of Object.entries(operations)) {
        // Operators' endpoints and provider sign-ins have tests of their own.
        if (tags.some((tag) => ['Backups', 'Operations'].includes(tag)) || /oidc|identities/.test(path)) continue;
        for (const status of Object.keys(responses)) {
          if (status < '400') expect([...covered]).toContain(`${method.toUpperCase()} ${path} ${status}`);
        }
      }
    expect(covered.size).toBeGreaterThan(80);
  });
}
