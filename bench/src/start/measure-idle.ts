import { setTimeout as sleep } from 'node:timers/promises';
import { residentOf } from '../cpu/resident.ts';
import { cpuMsOfThreads } from '../cpu/thread-time.ts';
import { hookSettings, memoryOf } from '../hooks/ask-hook.ts';
import type { TargetOptions } from '../targets/target.ts';
import { startProduct } from './start-product.ts';

/** A platform that nobody has asked anything; in bytes. */
export interface Idle {
  /** In memory, and of that what no other process shares (Node's own program is shared). */
  resident: { all: number; own: number };
  /** The same after all garbage has been collected. */
  collected: { all: number; own: number };
  /** What is held on to: V8's heap and what belongs to it. */
  held: number;
  /** CPU-ms in a second. */
  cpuMsPerS: number;
}

export async function measureIdle(
  options: Omit<TargetOptions, 'log'> & { hookDir: string; idleSeconds: number },
): Promise<Idle> {
  const { dataDir, env, hookDir, idleSeconds } = options;
  const product = await startProduct({ dataDir, env: { ...env, ...hookSettings('memory', hookDir) } });
  const { pid } = product;
  try {
    const [cpuMs, at] = [cpuMsOfThreads(pid), performance.now()];
    await sleep(idleSeconds * 1_000);
    const cpuMsPerS = ((cpuMsOfThreads(pid) - cpuMs) * 1_000) / (performance.now() - at);
    const resident = residentOf(pid);
    const held = await memoryOf(pid, hookDir);
    return { resident, collected: residentOf(pid), held, cpuMsPerS };
  } finally {
    await product.stop();
  }
}
