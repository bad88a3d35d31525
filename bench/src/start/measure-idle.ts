import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf, cpuMsPerSecond } from '../cpu/one-process.ts';
import { hookSettings, memoryOf } from '../hooks/ask-hook.ts';
import { startProduct } from '../targets/embedded.ts';
import type { TargetOptions } from '../targets/target.ts';

/** What `measureIdle` finds; in bytes. */
export type Idle = Awaited<ReturnType<typeof measureIdle>>;

/** A platform that nobody has asked anything. */
export async function measureIdle(options: Omit<TargetOptions, 'log'> & { hookDir: string; idleSeconds: number }) {
  const { dataDir, env, hookDir, idleSeconds } = options;
  const product = await startProduct({ dataDir, env: { ...env, ...hookSettings('memory', hookDir) } });
  const { pid } = product;
  /** In memory, and of that what no other process shares (Node's own program is shared). */
  const residentOf = () => ({ all: bytesOf(pid, 'VmRSS'), own: bytesOf(pid, 'RssAnon') });
  try {
    const cpuMsPerS = await cpuMsPerSecond(pid, () => sleep(idleSeconds * 1_000));
    const resident = residentOf();
    /** V8's heap and what belongs to it. Behind it all garbage has been collected. */
    const held = await memoryOf(pid, hookDir);
    return { resident, collected: residentOf(), held, cpuMsPerS };
  } finally {
    await product.stop();
  }
}
