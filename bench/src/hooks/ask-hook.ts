import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Loaded into servers; what it does is nobody's cost. */
export const HOOK = new URL('server-hook.ts', import.meta.url).href;
const ANSWER_MS = 30_000;

/** Settings with which servers have the hook: `profile` begins and ends one by turns, `memory` tells what is held on to. */
export function hookSettings(kind: 'profile' | 'memory', dir: string): Record<string, string> {
  mkdirSync(dir, { recursive: true });
  return { NODE_OPTIONS: `--import=${HOOK}`, HOOK: kind, HOOK_DIR: dir };
}

/** Wakes the hook in each of these processes, and waits for what it has to say. */
export async function askHooks(pids: readonly number[], dir: string): Promise<string[]> {
  const files = pids.map((pid) => join(dir, String(pid)));
  for (const pid of pids) process.kill(pid, 'SIGUSR2');
  for (const deadline = Date.now() + ANSWER_MS; !files.every((file) => existsSync(file)); await sleep(20))
    if (Date.now() > deadline) throw new Error('A server did not answer its hook.');
  return files.map((file) => {
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    return text;
  });
}

const SETTLED = 0.005;
const PAUSE_MS = 250;
const TRIES = 20;

/**
 * Bytes that a process with the memory hook holds on to; not what its sockets take in the kernel. Looks until two looks
 * agree: what belongs to sockets just closed goes bit by bit.
 */
export async function memoryOf(pid: number, dir: string): Promise<number> {
  const look = async () => Number((await askHooks([pid], dir))[0]);
  let last = await look();
  for (let tries = 1; tries < TRIES; tries++) {
    await sleep(PAUSE_MS);
    const now = await look();
    if (Math.abs(now - last) < last * SETTLED) return now;
    last = now;
  }
  return last;
}
