import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { RunningProcess } from './processes/child-process.ts';
import { writeAtomically } from './files.ts';

/** A running PostgreSQL, Redis or Kafka. */
export interface Server extends RunningProcess {
  /** The address for clients: a URL, or `host:port` for Kafka. */
  url: string;
  port: number;
}

export interface ServerOptions {
  /** For the server's data only. Its log, lock and password are stored beside it. */
  dataDir: string;
  /** Receives lines of progress for people. */
  log: (line: string) => void;
  /** @default a free port */
  port?: number | undefined;
  /** The data need not survive a crash of the machine: the server does not wait for the disk, and logins are cheap. */
  isThrowaway?: boolean;
  /** Aborts the start. */
  signal?: AbortSignal | undefined;
}

/** Returns the same password at every start, so that clients can reconnect. */
export function ensurePassword(file: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const password = randomBytes(24).toString('base64url');
  writeAtomically(file, password);
  return password;
}
