/**
 * Runs the backup service and owners of stores in a separate process, which tests can kill at any moment. The argument is
 * `{config, isWaiting}` as JSON. Reads a `{query, variables, kill}` per line, and responds to each with a line.
 */
import { createLog } from '@taskmesh/service';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { createBackup, type Backup, type BackupConfig } from '../../src/index.ts';
import type { CrashPoint } from './backup-process.ts';
import { createOwners } from './store-owners.ts';

const { config, isWaiting } = JSON.parse(process.argv[2] ?? '{}') as { config: BackupConfig; isWaiting: boolean };
let kill: CrashPoint | undefined;
let statements = 0;
let backup: Backup | undefined;

async function start(): Promise<Backup> {
  const log = createLog({ service: 'backup', level: 'silent' });
  const owners = createOwners(config.secrets.adminUrls);
  const started = await createBackup(config, { clock: { now: () => Date.now() }, owners, log });
  await started.start();
  return started;
}

if (!isWaiting) backup = await start();
process.stdout.write('started\n');

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
  backup ??= await start();
  const order = JSON.parse(line) as { query: string; variables: Record<string, unknown>; kill?: CrashPoint };
  kill = order.kill;
  statements = 0;
  const answer = await backup.subgraph.execute(order, { identity: { role: 'operator' }, requestId: 'r' });
  process.stdout.write(`${JSON.stringify({ ...answer, statements })}\n`);
}
await backup?.stop();
