/**
 * Loads one dump in a separate process: whatever a hostile dump does to PostgreSQL's parser ends with the process, and
 * its memory returns to the system.
 */
import { connect } from '@taskmesh/store/connection';
import { withoutValues } from '@taskmesh/store/without-values';
import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { EventEmitter } from 'node:events';
import { open } from 'node:fs/promises';
import { Writable } from 'node:stream';
import type { Client } from 'pg';
import { runWorkerJob } from '../run-worker-job.ts';
import { checkFrame } from './dump-frame.ts';
import { LoadError } from './load-error.ts';
import { runScript, type LoadReport } from './run-script.ts';
import { createScriptReader } from './script-reader.ts';

export interface Order {
  path: string;
  /** Absent: only counts what would be skipped. */
  url?: string | undefined;
}

export type Told =
  | { kind: 'progress'; bytes: number }
  | { kind: 'loaded'; report: LoadReport }
  | { kind: 'failed'; isRefused: boolean; message: string; cause?: { code: string; message: string } };

/** The role's own limit of a statement, which the restore has set. */
const LOADER_SETTINGS = { search_path: 'pg_catalog', statement_timeout: null };
const CHUNK_BYTES = 256 * 1024;
const TELL_EVERY_MS = 100;

runWorkerJob((order: Order) => load(order).then((report): Told => ({ kind: 'loaded', report }), failure));

function failure(error: unknown): Told {
  const isRefused = error instanceof LoadError;
  const cause = isRefused ? error.cause : withoutValues(error);
  return {
    kind: 'failed',
    isRefused,
    message: errorMessage(error),
    ...(cause === undefined ? {} : { cause: { code: errorCode(cause), message: errorMessage(cause) } }),
  };
}

async function load({ path, url }: Order): Promise<LoadReport> {
  const file = await open(path);
  await checkFrame(file);
  const client =
    url === undefined ? NOBODY : await connect({ url, name: 'taskmesh-restore', settings: LOADER_SETTINGS });
  const source = file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES });
  return runScript({ reader: createScriptReader(source), client, onProgress: createTeller() });
}

/** Discards all statements and COPY data. */
const NOBODY = {
  connection: new EventEmitter(),
  query: (statement: unknown) =>
    typeof statement === 'string' ? Promise.resolve() : new Writable({ write: (_part, _encoding, done) => done() }),
} as unknown as Client; // all that a script needs

function createTeller(): (bytes: number) => void {
  let last = -Infinity; // a small dump may be read before this process is as old as one interval
  return (bytes) => {
    const now = performance.now();
    if (now - last < TELL_EVERY_MS) return;
    last = now;
    process.send?.({ kind: 'progress', bytes } satisfies Told);
  };
}
