/** A process that restores one archive and may be killed at any moment. Its argument: `{config, file}` as JSON. */
import { createLog } from '@taskmesh/service';
import { createBackup, type BackupConfig } from '../../src/index.ts';
import { createOwners } from './store-owners.ts';

const { config, file } = JSON.parse(process.argv[2] ?? '{}') as { config: BackupConfig; file: string };
const log = createLog({ service: 'backup', level: 'silent' });
const backup = await createBackup(config, {
  clock: { now: () => Date.now() },
  owners: createOwners(config.secrets.adminUrls),
  log,
});
await backup.start();
process.stdout.write('started\n');
const query = 'mutation ($file: String!) { restoreBackup(file: $file) { outcome } }';
const result = await backup.subgraph.execute(
  { query, variables: { file } },
  { identity: { role: 'operator' }, requestId: 'r' },
);
process.stdout.write(`${JSON.stringify(result.data)}\n`);
await backup.stop();
