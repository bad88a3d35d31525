/**
 * The backup service as a process of its own, with owners of stores beside it. Its argument: the configuration as JSON. Reads
 * `{query, variables}` line by line, and answers each with a line.
 */
import { createLog } from '@taskmesh/service';
import { createInterface } from 'node:readline';
import { createBackup, type BackupConfig } from '../../src/index.ts';
import { createOwners } from './store-owners.ts';

const config = JSON.parse(process.argv[2] ?? '{}') as BackupConfig;
const log = createLog({ service: 'backup', level: 'silent' });
const owners = createOwners(config.secrets.adminUrls);
const backup = await createBackup(config, { clock: { now: () => Date.now() }, owners, log });
await backup.start();
process.stdout.write('started\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { query, variables } = JSON.parse(line) as { query: string; variables: Record<string, unknown> };
  const answer = await backup.subgraph.execute(
    { query, variables },
    { identity: { role: 'operator' }, requestId: 'r' },
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await backup.stop();
