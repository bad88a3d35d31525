/** Work on untrusted input, in a process of its own: it can harm only that process, whose memory returns to the system. */
import { unavailable } from '@taskmesh/contracts';
import { fork, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Message, SentError } from './child-job.ts';

type ErrorClass = new (message: string, options?: ErrorOptions) => Error;

export interface Job {
  /** A file that calls `doJob`. */
  path: string;
  order: Serializable;
  signal: AbortSignal;
  /** V8 flags, besides those that limit the heap. */
  flags?: string[];
  /** Writes the process's standard input. Absent: it has none. */
  feed?: (input: Writable) => void;
  onProgress?: ((bytes: number) => void) | undefined;
  /** The classes of the errors that the job may throw, or have as a cause. Others become plain errors with a code. */
  errors: ErrorClass[];
  /** When the process has ended by itself: it needed more memory than it may have. */
  tooMuch: () => Error;
}

const MEMORY = ['--max-old-space-size=64', '--max-semi-space-size=4'];

/**
 * Runs a job in a process with limited memory, which has ended when the promise settles.
 * @throws the signal's reason; what the job throws; AppError SERVICE_UNAVAILABLE when somebody ended the process
 */
export async function runInChild<Result>(job: Job): Promise<Result> {
  const { path, order, signal, flags = [], feed, onProgress, errors, tooMuch } = job;
  const child = fork(path, {
    execArgv: [...MEMORY, ...flags],
    stdio: [feed ? 'pipe' : 'ignore', 'ignore', 'ignore', 'ipc'],
    env: neededEnvironment(),
  });
  const gone = once(child, 'exit').catch(() => undefined); // the failed start itself is reported below
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  promise.catch(() => undefined); // an aborted job is not waited for
  child.on('message', (message: Message) => {
    if (message.kind === 'progress') onProgress?.(message.bytes);
    else if (message.kind === 'done')
      resolve(message.result as Result); // as the job has returned it
    else reject(received(message.error, errors));
  });
  child.once('error', reject);
  child.once('exit', (_code, by) => reject(isEndedByOthers(by) ? unavailable(ENDED) : tooMuch()));
  try {
    signal.throwIfAborted();
    child.send(order, () => undefined); // the exit reports a failure
    if (child.stdin) feed?.(child.stdin);
    return await promise;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await gone;
  }
}

const ENDED = 'Somebody ended the process that reads the archive.';
const FROM_OTHERS = new Set(['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM']);

/** Judged by the signal; a crash or a full heap ends with other signals. */
const isEndedByOthers = (signal: NodeJS.Signals | null) => signal !== null && FROM_OTHERS.has(signal);

/** The environment of Node, the C library and TLS: a process that reads untrusted input gets none of our secrets. */
const NEEDED = /^(NODE_|MALLOC_|OPENSSL_|PGSSL|SSL_CERT_|LD_LIBRARY_PATH$)/;

// eslint-disable-next-line no-restricted-properties -- what a child is given of it, not what is configured by it
const neededEnvironment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => NEEDED.test(name)));

function received({ name, code, message, cause }: SentError, errors: ErrorClass[]): Error {
  const options = cause && { cause: received(cause, errors) };
  const Known = errors.find((known) => known.name === name);
  return Known ? new Known(message, options) : Object.assign(new Error(message, options), code !== '' && { code });
}
