/**
 * A process that does one thing and may be killed at any moment. Its argument: `{config, query, variables, kill}` as JSON.
 * With `kill` it ends itself, as by `kill -9`, at that statement of all that it sends to PostgreSQL behind its start.
 */
import { createLog } from '@taskmesh/service';
import type { Socket } from 'node:net';
import { Client } from 'pg';
import { createBackup, type BackupConfig } from '../../src/index.ts';
import { createOwners } from './store-owners.ts';

const { config, query, variables, kill } = JSON.parse(process.argv[2] ?? '{}') as {
  config: BackupConfig;
  query: string;
  variables: Record<string, unknown>;
  /** `sent`: the server gets the statement, and no one its answer. `cut`: only that connection ends, the process goes on. */
  kill?: { statement: number; when: 'before' | 'sent' | 'cut' };
};
const log = createLog({ service: 'backup', level: 'silent' });
const backup = await createBackup(config, {
  clock: { now: () => Date.now() },
  owners: createOwners(config.secrets.adminUrls),
  log,
});
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

const result = await backup.subgraph.execute({ query, variables }, { identity: { role: 'operator' }, requestId: 'r' });
process.stdout.write(`${JSON.stringify({ ...result, statements })}\n`);
await backup.stop();
