/** A process that does one thing and may be killed at any moment. Its argument: `{config, query, variables}` as JSON. */
import { createLog } from '@taskmesh/service';
import { createBackup, type BackupConfig } from '../../src/index.ts';
import { createOwners } from './store-owners.ts';

const { config, query, variables } = JSON.parse(process.argv[2] ?? '{}') as {
  config: BackupConfig;
  query: string;
  variables: Record<string, unknown>;
};
const log = createLog({ service: 'backup', level: 'silent' });
const backup = await createBackup(config, {
  clock: { now: () => Date.now() },
  owners: createOwners(config.secrets.adminUrls),
  log,
});
await backup.start();
process.stdout.write('started\n');
const result = await backup.subgraph.execute({ query, variables }, { identity: { role: 'operator' }, requestId: 'r' });
process.stdout.write(`${JSON.stringify(result)}\n`);
await backup.stop();
