import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BackupConfig } from '../../src/index.ts';

const MAIN = fileURLToPath(new URL('./backup-process.main.ts', import.meta.url));

/**
 * At which of the statements that a request sends to PostgreSQL the process kills itself, as with `kill -9`. `sent`: the
 * server gets the statement, but no one gets its response. `cut`: only that connection ends, and the process continues.
 */
export interface CrashPoint {
  statement: number;
  when: 'before' | 'sent' | 'cut';
}

export interface ProcessResult {
  data?: Record<string, unknown>;
  errors?: { message: string; extensions: { code: string } }[];
  /** How many statements the process sent for the request. */
  statements: number;
}

/**
 * Starts the service in a separate process. `fileBlocks` limits the size of its files. With `isWaiting` it only loads its
 * modules, and starts with its first request.
 */
export async function startBackupProcess(
  config: BackupConfig,
  { fileBlocks, isWaiting = false }: { fileBlocks?: number; isWaiting?: boolean } = {},
) {
  const limit = fileBlocks === undefined ? '' : `trap '' XFSZ; ulimit -f ${fileBlocks}; `;
  const args = ['-c', `${limit}exec "$0" "$@"`, process.execPath, MAIN, JSON.stringify({ config, isWaiting })];
  const child = spawn('/bin/bash', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => undefined); // the process was killed
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  await lines.next();
  return {
    pid: child.pid ?? NaN,
    /** Sends a request. Returns undefined if the process ends meanwhile. */
    async ask(
      query: string,
      variables: Record<string, unknown> = {},
      kill?: CrashPoint,
    ): Promise<ProcessResult | undefined> {
      child.stdin.write(`${JSON.stringify({ query, variables, kill })}\n`);
      const { value } = await lines.next();
      return value === undefined ? undefined : (JSON.parse(value) as ProcessResult);
    },
    kill(): Promise<unknown> {
      child.kill('SIGKILL');
      return exited;
    },
    /** Lets the process end by itself. Returns its exit code. */
    stop(): Promise<number | null> {
      child.stdin.end();
      return exited;
    },
  };
}
