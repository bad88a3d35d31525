import { unavailable } from '@taskmesh/errors';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LoadError } from './load-error.ts';
import type { Order, Told } from './load.process.ts';
import type { LoadReport } from './run-script.ts';

export interface Load extends Order {
  /** A plain dump: SQL with COPY blocks, as pg_dump or a person writes it. */
  path: string;
  /** The database to fill, as an unprivileged role. */
  url: string;
  /** Ends the load when it fires. */
  signal: AbortSignal;
  /** Told from time to time. */
  onProgress?: ((bytesRead: number) => void) | undefined;
}

const PROCESS = fileURLToPath(new URL('./load.process.ts', import.meta.url));

/**
 * The optimizing compiler would take hundreds of megabytes for the parser's largest functions, and longer than most dumps.
 * What a dump may need of the heap is bounded by the script reader.
 */
const FLAGS = ['--liftoff-only', '--max-old-space-size=64', '--max-semi-space-size=4'];

/**
 * Brings the rows of a dump into a database over PostgreSQL's own protocol: all of them or none. Works in a process of its
 * own.
 * @throws LoadError with the line for everything that is not allowed, and for what PostgreSQL refuses; the signal's reason
 */
export async function loadDump({ path, url, signal, onProgress = () => undefined }: Load): Promise<LoadReport> {
  const child = fork(PROCESS, { execArgv: FLAGS, stdio: 'ignore', env: neededEnvironment() });
  const gone = once(child, 'exit').catch(() => undefined); // one that never began is told by `reportOf`
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    const order: Order = { path, url };
    child.send(order, () => undefined); // a failure is told by its exit
    return await reportOf(child, onProgress);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
    end();
    await gone;
  }
}

/** What Node and TLS go by: a dump is read by a process that has none of our secrets. */
const NEEDED = /^(NODE_|OPENSSL_|PGSSL|SSL_CERT_|LD_LIBRARY_PATH$)/;

// eslint-disable-next-line no-restricted-properties -- what a child is given of it, not what is configured by it
const neededEnvironment = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => NEEDED.test(name)));

/** A crash, or a heap that is full, has other signals. */
const ENDED_BY_OTHERS = new Set(['SIGHUP', 'SIGINT', 'SIGKILL', 'SIGTERM']);

const tooMuch = () => new LoadError('The dump needs more than a load may have: its process has ended.');

function reportOf(child: ChildProcess, onProgress: (bytesRead: number) => void): Promise<LoadReport> {
  return new Promise((resolve, reject) => {
    child.on('message', (told: Told) => {
      if (told.kind === 'progress') onProgress(told.bytes);
      else if (told.kind === 'loaded') resolve(told.report);
      else reject(errorOf(told));
    });
    child.once('error', reject);
    child.once('exit', (_code, signal) =>
      reject(signal && ENDED_BY_OTHERS.has(signal) ? unavailable('The load was ended by somebody.') : tooMuch()),
    );
  });
}

function errorOf({ isRefused, message, cause }: Extract<Told, { kind: 'failed' }>): Error {
  const original = cause && Object.assign(new Error(cause.message), cause.code === '' ? {} : { code: cause.code });
  return isRefused || !original ? new LoadError(message, { cause: original }) : original;
}
