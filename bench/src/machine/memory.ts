import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../run/benchmark.ts';

const TIMEOUT_MS = 30_000;
const PAUSE_MS = 250;
const MAX_READINGS = 20;
/** Two readings whose relative difference is smaller count as equal. */
const SETTLED_TOLERANCE = 0.005;

/** Loads the hook into servers that are started with this environment. */
export function withMemoryHook(env: Environment, dir: string): Environment {
  mkdirSync(dir, { recursive: true });
  const hook = `--import=${new URL('memory-hook.ts', import.meta.url).href}`;
  return { ...env, NODE_OPTIONS: [env.NODE_OPTIONS, hook].join(' ').trim(), MEMORY_HOOK_DIR: dir };
}

/**
 * Returns the bytes in use in a process with the hook, without its sockets' memory in the kernel. Reads until two readings
 * agree, because the memory of recently closed sockets is freed little by little.
 */
export async function bytesInUse(pid: number, dir: string): Promise<number> {
  let last = await read(pid, join(dir, String(pid)));
  for (let readings = 1; readings < MAX_READINGS; readings++) {
    await sleep(PAUSE_MS);
    const now = await read(pid, join(dir, String(pid)));
    if (Math.abs(now - last) < last * SETTLED_TOLERANCE) return now;
    last = now;
  }
  return last;
}

async function read(pid: number, file: string): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  for (const deadline = Date.now() + TIMEOUT_MS; !existsSync(file); await sleep(20))
    if (Date.now() > deadline) throw new Error('A server did not report its memory.');
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  return Number(text);
}
