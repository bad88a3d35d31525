import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createBackupFixture, type BackupFixture, type Restored } from './backup-fixture.ts';
import { createMemoryCgroup } from './memory-cgroup.ts';

const PROCESS = fileURLToPath(new URL('./service-process.ts', import.meta.url));
const MIB = 1024 * 1024;
/** What a restore may take over what the service has when it is idle. */
const BOUND_BYTES = 128 * MIB;
const LOOK_EVERY_MS = 20;

export interface LimitedService {
  fixture: BackupFixture;
  restore(file: string): Promise<Restored>;
  create(): Promise<string>;
  /** What it had over its idle memory at the worst since it was asked last, in MiB. */
  takeWorstMib(): number;
  /** Processes that the kernel has ended for lack of memory. */
  kills(): number;
  isAlive(): boolean;
  close(): Promise<void>;
}

/** The service in a group of processes that may have its idle memory and the bound, and no byte more. Undefined without groups. */
export async function startLimitedService(keys: string[] = []): Promise<LimitedService | undefined> {
  const group = createMemoryCgroup('backup');
  if (!group) return undefined;
  const fixture = await createBackupFixture('limited', { keys });
  await fixture.backup.stop();
  const child = spawn(
    'sh',
    ['-c', 'echo $$ > "$1"; shift; exec "$@"', 'sh', group.procsFile, process.execPath, PROCESS, JSON.stringify(fixture.config)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  ); // prettier-ignore
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  await pause(1_000); // what the start has left is collected
  const idle = group.ownBytes();
  group.limit(idle + BOUND_BYTES);
  let worst = idle;
  const timer = setInterval(() => (worst = Math.max(worst, group.ownBytes())), LOOK_EVERY_MS);

  const ask = async (query: string, variables: Record<string, unknown> = {}) => {
    child.stdin.write(`${JSON.stringify({ query, variables })}\n`);
    const { value } = await lines.next();
    const { data, errors } = JSON.parse(String(value)) as { data: Record<string, unknown>; errors?: unknown };
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  };
  return {
    fixture,
    restore: async (file) =>
      (await ask('mutation ($file: String!) { restoreBackup(file: $file) { success message error databaseRestored outcome } }', { file }))['restoreBackup'] as Restored, // prettier-ignore
    create: async () => ((await ask('mutation { createBackup { file } }'))['createBackup'] as { file: string }).file,
    takeWorstMib() {
      const taken = (worst - idle) / MIB;
      worst = idle;
      return taken;
    },
    kills: () => group.kills(),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    async close() {
      clearInterval(timer);
      child.stdin.end();
      await exited;
      group.remove();
      await fixture.close();
    },
  };
}
