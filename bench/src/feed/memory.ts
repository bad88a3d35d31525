import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalAll } from '../profile/signal-all.ts';

const SETTLED = 0.005;
const PAUSE_MS = 250;
const TRIES = 20;

/**
 * Bytes that a process with the memory hook holds on to, in V8's heap and beside it; not what its sockets take in the
 * kernel. Looks until two looks agree: what belongs to sockets just closed goes bit by bit.
 */
export async function memoryOf(pid: number, dir: string): Promise<number> {
  let last = await lookAt(pid, dir);
  for (let tries = 1; tries < TRIES; tries++) {
    await sleep(PAUSE_MS);
    const now = await lookAt(pid, dir);
    if (Math.abs(now - last) < last * SETTLED) return now;
    last = now;
  }
  return last;
}

async function lookAt(pid: number, dir: string): Promise<number> {
  await signalAll([pid], dir, 'memory');
  const file = join(dir, `${pid}.memory`);
  const bytes = Number(readFileSync(file, 'utf8'));
  rmSync(file);
  return bytes;
}
