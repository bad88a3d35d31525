import { startCalled } from '../../processes/calls.ts';
import type { FeedLoadCalls } from './main.ts';

/** The process with the sockets. */
export type FeedLoadProcess = Awaited<ReturnType<typeof startFeedLoad>>;

export function startFeedLoad(logFile: string) {
  const file = new URL('main.ts', import.meta.url);
  return startCalled<FeedLoadCalls>({ file, env: process.env, logFile, calls: ['open', 'run', 'close'] });
}
