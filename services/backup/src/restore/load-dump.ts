import { LoadError, type LoadReport } from '@taskmesh/pg-rows';
import { fileURLToPath } from 'node:url';
import { runInChild } from '../child-process.ts';
import type { LoadOrder } from './load.process.ts';

export interface Load extends LoadOrder {
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
 * Loads the rows of a dump, all or none, in a separate process.
 * @throws LoadError with the line of anything not allowed or refused by PostgreSQL; the signal's reason
 */
export function loadDump({ path, url, signal, onProgress }: Load): Promise<LoadReport> {
  const tooMuch = () => new LoadError('The dump needs more than a load may have: its process has ended.');
  return runInChild({
    path: PROCESS,
    order: { path, url },
    signal,
    flags: FLAGS,
    onProgress,
    errors: [LoadError],
    tooMuch,
  });
}
