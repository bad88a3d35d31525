/**
 * The backup service as a process of its own, which may be killed at any moment, with owners of stores beside it. Its argument:
 * `{config, kill}` as JSON. Reads `{query, variables}` line by line, and answers each with a line.
 */
import { createLog } from '@taskmesh/service';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { createBackup, type BackupConfig } from '../../src/index.ts';
import type { CrashPoint } from './backup-process.ts';
import { createOwners } from './store-owners.ts';

const { config, kill } = JSON.parse(process.argv[2] ?? '{}') as { config: BackupConfig; kill?: CrashPoint };
const log = createLog({ service: 'backup', level: 'silent' });
const owners = createOwners(config.secrets.adminUrls);
const backup = await createBackup(config, { clock: { now: () => Date.now() }, owners, log });
await backup.start();
process.stdout.write('started\n');

let statements = 0;
const send = Client.prototype.query as (...args: unknown[]) => unknown;
Client.prototype.query = function count(
  this: Client & { connection: { stream: Socket } },
  ...args: unknown[]
): unknown {
  const isLast = ++statements === kill?.statement;
  if (isLast && kill?.when === 'before') process.kill(process.pid, 'SIGKILL');
  const answer = send.apply(this, args);
  if (isLast && kill?.when === 'sent') setImmediate(() => process.kill(process.pid, 'SIGKILL'));
  if (isLast && kill?.when === 'cut') setImmediate(() => this.connection.stream.destroy());
  return answer;
} as typeof Client.prototype.query;

for await (const line of createInterface({ input: process.stdin })) {
  const { query, variables } = JSON.parse(line) as { query: string; variables: Record<string, unknown> };
  const answer = await backup.subgraph.execute(
    { query, variables },
    { identity: { role: 'operator' }, requestId: 'r' },
  );
  process.stdout.write(`${JSON.stringify({ ...answer, statements })}\n`);
}
await backup.stop();
