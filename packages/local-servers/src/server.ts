import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { RunningProcess } from './processes/child-process.ts';
import { writeWhole } from './files.ts';

/** A PostgreSQL, Redis or Kafka that we started. */
export interface Server extends RunningProcess {
  /** For clients: a URL, or Kafka's `host:port`. */
  url: string;
  port: number;
}

export interface ServerOptions {
  /** Its data only; its log, lock and password lie in folders beside it. */
  dataDir: string;
  /** For people: a line of progress. */
  log: (line: string) => void;
  /** Default: a free one. */
  port?: number | undefined;
  /** Its data need not outlive a crash of the machine: it waits for no disk, and logins are cheap. */
  isThrowaway?: boolean;
  /** Gives up when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** The same one at every start, so that clients find their way back. */
export function ensurePassword(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const password = randomBytes(24).toString('base64url');
  writeWhole(file, password);
  return password;
}
