import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, PlainError } from '../errors.ts';

interface Holder {
  pid: number;
  stopping: boolean;
}

const SQLITE_BUSY = 5;
/** If the holder has just been killed, the system takes a moment to release the lock. */
const WAIT_MS = 1_500;
const WAIT_WHILE_STOPPING_MS = 30_000;

/**
 * Acquires an exclusive lock, until `release` or until this process ends in any way. Locks `file`, which is created if missing,
 * with SQLite's lock on an empty database: the only lock in Node that the operating system releases when its holder is
 * killed, so that a stale lock can never prevent a start.
 * @throws PlainError naming the holder, when another process (or another part of this one) has the lock; AbortError
 */
export async function acquireLock(file: string, what: string, signal?: AbortSignal) {
  const begin = performance.now();
  for (;;) {
    const database = tryLock(file);
    if (database) return heldLock(database, `${file}-holder`);
    const holder = readHolder(`${file}-holder`);
    const waitMs = holder?.stopping ? WAIT_WHILE_STOPPING_MS : WAIT_MS;
    if (performance.now() - begin > waitMs)
      throw new PlainError(`${what}${holder ? ` (process ${holder.pid})` : ''}. Stop it, or use another folder.`);
    await sleep(50, undefined, { signal });
  }
}

function tryLock(file: string): DatabaseSync | undefined {
  ensureWritable(file);
  const database = new DatabaseSync(file);
  try {
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE'); // nothing is ever written, so no rollback is needed
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined; // a property of node:sqlite's errors
    throw error;
  }
}

/** SQLite would open a read-only file, too, but its lock would not exclude other processes. */
function ensureWritable(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    accessSync(dirname(file), constants.W_OK);
    if (existsSync(file)) accessSync(file, constants.W_OK);
  } catch (cause) {
    throw new PlainError(`Cannot write to ${dirname(file)}: does it belong to another user?`, { cause });
  }
}

function heldLock(database: DatabaseSync, holderFile: string) {
  /** Information only: the lock works without it, as on a full disk. */
  const write = (stopping: boolean) =>
    attempt(() => writeFileSync(holderFile, JSON.stringify({ pid: process.pid, stopping } satisfies Holder)));
  let isHeld = true;
  write(false);
  return {
    /** Announces that `release` will follow soon, so that other processes wait longer. */
    announceRelease: () => isHeld && write(true),
    release() {
      if (!isHeld) return;
      isHeld = false;
      attempt(() => rmSync(holderFile));
      database.close();
    },
  };
}

/** Reads what `heldLock` wrote. */
const readHolder = (file: string) => attempt(() => JSON.parse(readFileSync(file, 'utf8')) as Holder);
