/** A process that makes one archive and may be killed at any moment. Its argument: `{config}` as JSON. */
import { createLog } from '@taskmesh/service';
import { createBackup, type BackupConfig } from '../../src/index.ts';

const { config } = JSON.parse(process.argv[2] ?? '{}') as { config: BackupConfig };
const log = createLog({ service: 'backup', level: 'silent' });
const backup = await createBackup(config, { clock: { now: () => Date.now() }, log });
await backup.start();
process.stdout.write('started\n');
const query = 'mutation { createBackup { file } }';
const result = await backup.subgraph.execute({ query }, { identity: { role: 'operator' }, requestId: 'r' });
process.stdout.write(`${JSON.stringify(result)}\n`);
await backup.stop();
