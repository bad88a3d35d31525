import { startCalled } from '../processes/calls.ts';
import type { LoadCalls } from './main.ts';

/** The process that sends the requests. */
export type Load = Awaited<ReturnType<typeof startLoad>>;

/** The load's own collections would look like latencies of the servers: rare, and between measurements where it matters. */
const GARBAGE = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

export function startLoad(logFile: string) {
  const file = new URL('main.ts', import.meta.url);
  const calls = ['populate', 'open', 'run', 'listBesideLogins', 'close'] as const;
  return startCalled<LoadCalls>({ file, execArgv: GARBAGE, env: process.env, logFile, calls });
}
