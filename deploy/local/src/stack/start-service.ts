import { join } from 'node:path';
import { untilReady } from '../processes/child-process.ts';
import { lockDataDir } from '../processes/pid-lock.ts';
import type { StopLadder } from '../processes/process-table.ts';
import type { ServiceProcess } from './service-processes.ts';
import type { StackLife } from './stack.ts';

const LADDER: StopLadder = [['SIGTERM', 10_000]];
const START_TIMEOUT_MS = 60_000;

/** Runs a service as a process of its own; resolves when its admin port says that it is ready. */
export async function startService(
  service: ServiceProcess,
  { dataDir, log, signal }: { dataDir: string; log: (line: string) => void; signal: AbortSignal },
): Promise<StackLife> {
  const lock = await lockDataDir({ dataDir: join(dataDir, service.name), ladder: LADDER, log });
  try {
    const child = await lock.start({ command: process.execPath, args: [service.main], env: service.env });
    await untilReady(child, {
      name: service.name,
      ready: () => isReady(service.adminUrl),
      timeoutMs: START_TIMEOUT_MS,
      signal,
    });
    return { ...child, url: service.url, adminUrl: service.adminUrl };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function isReady(adminUrl: string): Promise<boolean> {
  const response = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(2_000) });
  await response.body?.cancel();
  return response.ok;
}
