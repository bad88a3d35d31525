import { findFreePorts, serviceReady, untilReady } from '@taskmesh/local';
import { join } from 'node:path';
import { cpuMsOfThreads } from '../cpu/thread-time.ts';
import { startNode } from '../processes/start-node.ts';
import { EMBEDDED } from '../targets/embedded.ts';
import type { TargetOptions } from '../targets/target.ts';

/** Asked so often, a start is not found to be longer than it was, and the answers cost nothing worth naming. */
const ASK_EVERY_MS = 5;

export interface StartedProduct {
  pid: number;
  /** From the start of the process until it answered that it is ready. */
  readyMs: number;
  /** What the process itself took until then. */
  cpuMs: number;
  stop(): Promise<void>;
}

/** The embedded platform as `npm start` runs it, with a PostgreSQL of its own. */
export async function startProduct({ dataDir, env }: Omit<TargetOptions, 'log'>): Promise<StartedProduct> {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const settings = { DATA_DIR: join(dataDir, 'taskmesh'), PORT: String(port), ADMIN_PORT: String(adminPort) };
  const begunMs = performance.now();
  const product = await startNode({ ...EMBEDDED, env: { ...env, ...settings }, logFile: join(dataDir, 'product.log') });
  const ready = () => serviceReady(`http://127.0.0.1:${port}`);
  await untilReady(product, { name: 'embedded', ready, intervalMs: ASK_EVERY_MS });
  const readyMs = performance.now() - begunMs;
  return { pid: product.pid, readyMs, cpuMs: cpuMsOfThreads(product.pid), stop: () => product.stop() };
}
