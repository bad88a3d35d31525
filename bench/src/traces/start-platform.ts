import { findFreePorts } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { startCalled } from '../processes/calls.ts';
import { EMBEDDED } from '../targets/embedded.ts';
import { targetEnvironment, tracesSettings } from '../targets/start-targets.ts';
import type { TargetOptions } from '../targets/target.ts';
import type { PlatformCalls } from './main.ts';

type PlatformOptions = Omit<TargetOptions, 'log'> & { postgresUrl: string; collector: { url: string } };

/** Spans leave when there are enough for a batch, and so while recording goes on: it pays for that, and not the slice behind it. */
const ONLY_WHOLE_BATCHES = { OTEL_BSP_SCHEDULE_DELAY: '600000' };

/** An embedded platform that records as much as it is told to: nothing at first. */
export async function startPlatform({ dataDir, env, postgresUrl, collector }: PlatformOptions) {
  await using closers = new Closers();
  const [port, adminPort] = await findFreePorts(2);
  const settings = { DATA_DIR: dataDir, POSTGRES_URL: postgresUrl, PORT: String(port), ADMIN_PORT: String(adminPort) };
  const platform = closers.use(
    await startCalled<PlatformCalls>({
      file: new URL('main.ts', import.meta.url),
      execArgv: EMBEDDED.execArgv,
      env: { ...targetEnvironment(env), ...settings, ...tracesSettings(collector, 1), ...ONLY_WHOLE_BATCHES },
      logFile: join(dataDir, '..', 'platform.log'),
      calls: ['start', 'record'],
    }),
  );
  const url = await platform.start();
  return { url, pid: platform.pid, record: platform.record, stop: closers.handOver() };
}
