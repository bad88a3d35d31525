/** The child's side of `child-process.ts`. It imports little, because every job waits for it to load. */
import type { Serializable } from 'node:child_process';
import { flushCompileCache } from 'node:module';

export type Message =
  { kind: 'progress'; bytes: number } | { kind: 'done'; result: Serializable } | { kind: 'failed'; error: ErrorData };

export interface ErrorData {
  name: string;
  code: string;
  message: string;
  cause?: ErrorData;
}

const PROGRESS_EVERY_MS = 100;

/** The main function of the process: does one job, reports the result, and exits. */
export function runChildJob<Input>(
  work: (input: Input, onProgress: (bytes: number) => void) => Promise<unknown>,
): void {
  flushCompileCache(); // the parent kills this process, so Node would never save the cache
  const exit = () => process.exit();
  process.once('disconnect', exit); // the parent has exited
  // Terminals and some service managers send these to the whole process group; the parent decides what to do.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  let last = -Infinity; // so that even a job shorter than the interval reports progress
  const onProgress = (bytes: number) => {
    const now = performance.now();
    if (now - last < PROGRESS_EVERY_MS) return;
    last = now;
    process.send?.({ kind: 'progress', bytes });
  };
  const done = (result: unknown) => process.send?.({ kind: 'done', result }, exit);
  const failed = (error: unknown) => process.send?.({ kind: 'failed', error: serialize(error) }, exit);
  process.once('message', (input: Input) => void work(input, onProgress).then(done, failed));
}

function serialize(error: unknown): ErrorData {
  if (!(error instanceof Error)) return { name: '', code: '', message: String(error) };
  const { name, message, cause, code = '' }: NodeJS.ErrnoException = error;
  const own = { name, code: String(code), message };
  return cause === undefined ? own : { ...own, cause: serialize(cause) };
}
