import { join } from 'node:path';
import { untilReady, type RunningProcess } from '../processes/child-process.ts';
import { claimDataDir } from '../processes/claim.ts';
import type { StopLadder } from '../processes/process-table.ts';
import type { ServiceProcess } from './service-processes.ts';

const LADDER: StopLadder = [['SIGTERM', 10_000]];
const START_TIMEOUT_MS = 60_000;

/** Runs a service as a process of its own; resolves when its admin port says that it is ready. */
export async function startService(
  service: ServiceProcess,
  { dataDir, log }: { dataDir: string; log: (line: string) => void },
): Promise<RunningProcess> {
  const claim = await claimDataDir({ dataDir: join(dataDir, service.name), ladder: LADDER, log });
  try {
    const args = ['--enable-source-maps', service.main];
    const child = await claim.start({ command: process.execPath, args, env: service.env, cwd: dataDir });
    await untilReady(child, { name: service.name, ready: () => isReady(service.adminUrl), timeoutMs: START_TIMEOUT_MS });
    return child;
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function isReady(adminUrl: string): Promise<boolean> {
  const response = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(2_000) });
  await response.body?.cancel();
  return response.ok;
}
