import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const WAIT_MS = 30_000;

/** Wakes the hook in each of these processes, and waits until it has written its file `<pid>.<ending>` into `dir`. */
export async function signalAll(pids: readonly number[], dir: string, ending: string): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGUSR2');
  for (const deadline = Date.now() + WAIT_MS; ; await sleep(20)) {
    if (pids.every((pid) => existsSync(join(dir, `${pid}.${ending}`)))) return;
    if (Date.now() > deadline) throw new Error('A server did not answer the profiler.');
  }
}
