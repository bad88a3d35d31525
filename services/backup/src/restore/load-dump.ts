import { LoadError, type LoadReport } from '@taskmesh/pg-rows';
import { fileURLToPath } from 'node:url';
import { runInChild } from '../child-process.ts';
import type { LoadInput } from './load.process.ts';

export interface Load extends LoadInput {
  signal: AbortSignal;
  onProgress?: ((bytesRead: number) => void) | undefined;
}

const PROCESS = fileURLToPath(new URL('./load.process.ts', import.meta.url));

/**
 * Disables WebAssembly's optimizing compiler, which needs hundreds of megabytes for the parser's largest functions, and
 * takes longer than most loads. The script reader limits how much heap a dump needs.
 */
const FLAGS = ['--liftoff-only'];

/**
 * Loads the rows of a dump in a separate process: all or none.
 * @throws LoadError with the line that is not allowed or that PostgreSQL refused; the signal's reason
 */
export function loadDump({ path, url, signal, onProgress }: Load): Promise<LoadReport> {
  const memoryError = () => new LoadError('The dump needs more than a load may have: its process has ended.');
  return runInChild({
    path: PROCESS,
    input: { path, url },
    signal,
    flags: FLAGS,
    onProgress,
    errors: [LoadError],
    memoryError,
  });
}
