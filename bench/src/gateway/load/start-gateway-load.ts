import { startCalled } from '../../processes/calls.ts';
import type { GatewayLoadCalls } from './main.ts';

/** The process that sends the requests. */
export type GatewayLoad = Awaited<ReturnType<typeof startGatewayLoad>>;

export function startGatewayLoad(logFile: string) {
  const file = new URL('main.ts', import.meta.url);
  return startCalled<GatewayLoadCalls>({ file, env: process.env, logFile, calls: ['open', 'run', 'close'] });
}
