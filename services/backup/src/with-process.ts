import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import { once } from 'node:events';

export interface Job {
  path: string;
  order: Serializable;
  signal: AbortSignal;
  /** V8 flags, besides those that limit the heap. */
  flags?: string[];
  /** Whether the process reads its standard input. @default false */
  hasInput?: boolean;
}

const MEMORY = ['--max-old-space-size=64', '--max-semi-space-size=4'];

/**
 * Runs a job in a separate process with limited memory, which returns to the system afterwards. The process has ended
 * when the promise settles; `work` listens to it.
 * @throws the signal's reason, and what `work` throws
 */
export async function withProcess<Result>(
  { path, order, signal, flags = [], hasInput = false }: Job,
  work: (child: ChildProcess) => Promise<Result>,
): Promise<Result> {
  const child = fork(path, {
    execArgv: [...MEMORY, ...flags],
    stdio: [hasInput ? 'pipe' : 'ignore', 'ignore', 'ignore', 'ipc'],
    env: neededEnvironment(),
  });
  const gone = once(child, 'exit').catch(() => undefined); // `work` reports a failed start
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    child.send(order, () => undefined); // the exit reports a failure
    return await work(child);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await gone;
  }
}

/** The environment of Node, the C library and TLS: a process that reads untrusted input gets none of our secrets. */
const NEEDED = /^(NODE_|MALLOC_|OPENSSL_|PGSSL|SSL_CERT_|LD_LIBRARY_PATH$)/;

// eslint-disable-next-line no-restricted-properties -- what a child is given of it, not what is configured by it
const neededEnvironment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => NEEDED.test(name)));

const FROM_OTHERS = new Set(['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM']);

/** Judged by the signal; a crash or a full heap ends with other signals. */
export const isEndedByOthers = (signal: NodeJS.Signals | null) => signal !== null && FROM_OTHERS.has(signal);
