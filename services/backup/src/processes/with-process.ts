import { fork, type ChildProcess, type Serializable } from 'node:child_process';
import { once } from 'node:events';

export interface Job {
  /** A file that takes its order with `takeOrder`. */
  path: string;
  order: Serializable;
  /** Ends the process when it fires. */
  signal: AbortSignal;
  /** Of V8, besides those that bound its heap. */
  flags?: string[];
  /** Whether it is fed. @default false */
  hasInput?: boolean;
}

const MEMORY = ['--max-old-space-size=64', '--max-semi-space-size=4'];

/**
 * Gives an order to a process of its own: its memory is bounded, and goes back to the system with it. Nothing is left of it
 * when `work`, which listens to it, has settled.
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
  const gone = once(child, 'exit').catch(() => undefined); // one that never began is told by `work`
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    child.send(order, () => undefined); // a failure is told by its exit
    return await work(child);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await gone;
  }
}

/** What Node and TLS go by: what strangers wrote is read by a process that has none of our secrets. */
const NEEDED = /^(NODE_|OPENSSL_|PGSSL|SSL_CERT_|LD_LIBRARY_PATH$)/;

// eslint-disable-next-line no-restricted-properties -- what a child is given of it, not what is configured by it
const neededEnvironment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => NEEDED.test(name)));

const FROM_OTHERS = new Set(['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM']);

/** By the signal that it ended with; a crash, or a heap that is full, has another one. */
export const isEndedByOthers = (signal: NodeJS.Signals | null) => signal !== null && FROM_OTHERS.has(signal);
