import { unavailable } from '@taskmesh/contracts';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isEndedByOthers, withProcess } from '../with-process.ts';
import { LoadError } from './load-error.ts';
import type { Order, Told } from './load.process.ts';
import type { LoadReport } from './run-script.ts';

export interface Load extends Required<Order> {
  /** A plain dump: SQL with COPY blocks, written by pg_dump or a person. */
  path: string;
  /** The database to fill, as an unprivileged role. */
  url: string;
  signal: AbortSignal;
  onProgress?: ((bytesRead: number) => void) | undefined;
}

const PROCESS = fileURLToPath(new URL('./load.process.ts', import.meta.url));

/**
 * The optimizing compiler takes hundreds of megabytes for the parser's largest functions, and longer than most loads.
 * The script reader limits how much of the heap a dump needs.
 */
const FLAGS = ['--liftoff-only'];

/**
 * Loads the rows of a dump through PostgreSQL's own protocol, all or none, in a separate process.
 * @throws LoadError with the line of anything not allowed or refused by PostgreSQL; the signal's reason
 */
export function loadDump({ path, url, signal, onProgress = () => undefined }: Load): Promise<LoadReport> {
  const order: Order = { path, url };
  return withProcess({ path: PROCESS, order: { ...order }, signal, flags: FLAGS }, (child) =>
    reportOf(child, onProgress),
  );
}

/** Counts what a load would skip, without a server. @throws LoadError */
export async function countSkipped({ path, signal }: Pick<Load, 'path' | 'signal'>): Promise<LoadReport['skipped']> {
  const report = await withProcess({ path: PROCESS, order: { path }, signal, flags: FLAGS }, (child) =>
    reportOf(child, () => undefined),
  );
  return report.skipped;
}

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
      reject(isEndedByOthers(signal) ? unavailable('The load was ended by somebody.') : tooMuch()),
    );
  });
}

function errorOf({ isRefused, message, cause }: Extract<Told, { kind: 'failed' }>): Error {
  const original = cause && Object.assign(new Error(cause.message), cause.code === '' ? {} : { code: cause.code });
  return isRefused || !original ? new LoadError(message, { cause: original }) : original;
}
