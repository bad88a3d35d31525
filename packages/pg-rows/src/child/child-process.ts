/** Runs work on untrusted input in a child process: it can harm only the child, whose memory returns to the system. */
import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Message, ErrorData } from './child-job.ts';

type ErrorClass = new (message: string, options?: ErrorOptions) => Error;

export interface Job {
  /** A file that calls `runChildJob`. */
  path: string;
  input: Serializable;
  signal: AbortSignal;
  /** V8 flags in addition to the heap limits. */
  flags?: string[];
  /** Writes to the child's standard input; the child has none if absent. */
  writeStdin?: (stdin: Writable) => void;
  onProgress?: ((bytes: number) => void) | undefined;
  /** The classes of errors that the job may throw or use as causes. Others become plain errors with a code. */
  errors: ErrorClass[];
  /** The error when the child dies by itself, because it exceeded its memory limit. */
  memoryError: () => Error;
  /** The error when the process was not started, failed, or was killed by someone. @default an error that says so */
  lost?: ((cause?: unknown) => Error) | undefined;
}

const MEMORY_FLAGS = ['--max-old-space-size=64', '--max-semi-space-size=4'];

/**
 * Runs a job in a process with limited memory, which has exited when the promise settles.
 * @throws the signal's reason; the job's error; `memoryError`; `lost`
 */
export async function runInChild<Result>(job: Job): Promise<Result> {
  const { input, signal, writeStdin, onProgress, errors, memoryError, lost = lostChild } = job;
  const child = start(job, lost);
  const exited = once(child, 'exit').catch(() => undefined); // a failed start is reported below
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  promise.catch(() => undefined); // after an abort, nothing awaits the promise
  child.on('message', (message: Message) => {
    if (message.kind === 'progress') onProgress?.(message.bytes);
    else if (message.kind === 'done')
      resolve(message.result as Result); // the type that the job returns
    else reject(deserialize(message.error, errors));
  });
  child.once('error', (error) => reject(lost(error)));
  child.once('exit', (_code, by) => reject(isMemoryLimit(by) ? memoryError() : lost()));
  try {
    signal.throwIfAborted();
    child.send(input, () => undefined); // a failure is reported by the exit
    if (child.stdin) writeStdin?.(child.stdin);
    return await promise;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await exited;
  }
}

/** Some failures to start are thrown, others are events. */
function start({ path, flags = [], writeStdin }: Job, lost: (cause?: unknown) => Error): ChildProcess {
  try {
    return fork(path, {
      execArgv: [...MEMORY_FLAGS, ...flags],
      stdio: [writeStdin ? 'pipe' : 'ignore', 'ignore', 'ignore', 'ipc'],
      env: neededEnvironment(),
    });
  } catch (error) {
    throw lost(error);
  }
}

const lostChild = (cause?: unknown) => new Error('The process could not be started, failed, or was killed.', { cause });
const EXTERNAL_SIGNALS = new Set(['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM']);

/** A full heap or a crash ends the process with another signal. An exit code means that it could not work on this machine. */
const isMemoryLimit = (signal: NodeJS.Signals | null) => signal !== null && !EXTERNAL_SIGNALS.has(signal);

/** The variables of Node, the C library and TLS. A process that reads untrusted input gets none of our secrets. */
const ALLOWED = /^(NODE_|MALLOC_|OPENSSL_|PGSSL|SSL_CERT_|LD_LIBRARY_PATH$)/;

// eslint-disable-next-line no-restricted-properties -- passes on the environment, reads no settings
const neededEnvironment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => ALLOWED.test(name)));

function deserialize({ name, code, message, cause }: ErrorData, errors: ErrorClass[]): Error {
  const options = cause && { cause: deserialize(cause, errors) };
  const Known = errors.find((known) => known.name === name);
  return Known ? new Known(message, options) : Object.assign(new Error(message, options), code !== '' && { code });
}
