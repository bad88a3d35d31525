import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { signalAll } from '../profile/signal-all.ts';

/** Bytes that a process with the memory hook holds on to, in V8's heap and beside it; not what its sockets take in the kernel. */
export async function memoryOf(pid: number, dir: string): Promise<number> {
  await signalAll([pid], dir, 'memory');
  const file = join(dir, `${pid}.memory`);
  const bytes = Number(readFileSync(file, 'utf8'));
  rmSync(file);
  return bytes;
}
