import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientConfig, QueryConfig } from 'pg';
import { runInChild, type Job } from '../child/child-process.ts';
import type { LoadOptions, LoadReport } from './load-dump.ts';
import { LoadError } from './load-error.ts';

/** What is sent to the process. */
export interface ChildLoad extends Pick<LoadOptions, 'path' | 'schema' | 'maxTables'> {
  /** How to connect, as node-postgres accepts it, as far as JSON can (certificates as text). The role needs the privileges of `LoadOptions.client`. */
  connection: ClientConfig;
  /** A statement to run first, for settings of the session. */
  setUp?: QueryConfig;
}

export interface ChildLoadOptions extends ChildLoad, Pick<Job, 'signal' | 'onProgress' | 'lost'> {}

/** The extension differs in the built package. */
const PROCESS = fileURLToPath(new URL(`./load.process${extname(import.meta.url)}`, import.meta.url));

/**
 * Disables WebAssembly's optimizing compiler, which needs hundreds of megabytes for the parser's largest functions, and
 * takes longer than most loads. The script reader limits how much heap a dump needs.
 */
const FLAGS = ['--liftoff-only'];

/**
 * Like `loadDump`, in a separate process with at most 100 MiB of memory. PostgreSQL's errors are reduced by `withoutValues`.
 * @throws LoadError with the line that is not allowed or that PostgreSQL refused; the signal's reason; `lost`
 */
export function loadDumpInChild({ signal, onProgress, lost, ...input }: ChildLoadOptions): Promise<LoadReport> {
  const memoryError = () => new LoadError('The dump needs more memory than a load may use: its process has ended.');
  return runInChild({ path: PROCESS, input, signal, flags: FLAGS, onProgress, errors: [LoadError], memoryError, lost });
}
