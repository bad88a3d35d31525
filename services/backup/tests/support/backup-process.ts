import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BackupConfig } from '../../src/index.ts';

const MAIN = fileURLToPath(new URL('./backup-process.main.ts', import.meta.url));

/**
 * The process ends itself, as by `kill -9`, at that statement of all that it sends to PostgreSQL for one request. `sent`: the
 * server gets the statement, and no one its answer. `cut`: only that connection ends, the process goes on.
 */
export interface CrashPoint {
  statement: number;
  when: 'before' | 'sent' | 'cut';
}

export interface Answer {
  data?: Record<string, unknown>;
  errors?: { message: string; extensions: { code: string } }[];
  /** How many statements the process has sent for it. */
  statements: number;
}

export type BackupProcess = Awaited<ReturnType<typeof startBackupProcess>>;

/**
 * The service as a process of its own, which has started. `fileBlocks`: how large a file of it may be. `isWaiting`: its
 * modules are loaded, and it starts with its first request.
 */
export async function startBackupProcess(
  config: BackupConfig,
  { fileBlocks, isWaiting = false }: { fileBlocks?: number; isWaiting?: boolean } = {},
) {
  const limit = fileBlocks === undefined ? '' : `trap '' XFSZ; ulimit -f ${fileBlocks}; `;
  const args = ['-c', `${limit}exec "$0" "$@"`, process.execPath, MAIN, JSON.stringify({ config, isWaiting })];
  const child = spawn('/bin/bash', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // it was killed
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    pid: child.pid ?? NaN,
    /** Undefined when the process ends meanwhile. */
    async ask(query: string, variables: Record<string, unknown> = {}, kill?: CrashPoint): Promise<Answer | undefined> {
      child.stdin.write(`${JSON.stringify({ query, variables, kill })}\n`);
      const { value } = await lines.next();
      return value === undefined ? undefined : (JSON.parse(value) as Answer);
    },
    kill(): Promise<unknown> {
      child.kill('SIGKILL');
      return exited;
    },
    /** Lets it end by itself. Returns its exit code. */
    stop(): Promise<number | null> {
      child.stdin.end();
      return exited;
    },
  };
}
