import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ifThere, PlainError } from '../errors.ts';

interface Holder {
  pid: number;
  stopping: boolean;
}

const SQLITE_BUSY = 5;
/** The holder may just have been killed: the system takes a moment to notice. */
const WAIT_MS = 1_500;
const WAIT_WHILE_STOPPING_MS = 30_000;

/**
 * Gives the right to use a file or directory alone, until `release` or the end of this process, however it ends: by a lock
 * on `file`, which is made when missing. The lock is SQLite's own on an empty database: the one lock in Node that the
 * operating system gives back when its holder is killed, so that no stale lock can ever stop a start.
 * @throws PlainError naming the holder, when another process (or another part of this one) has it; AbortError
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
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE'); // nothing is ever written, so nothing to roll back
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined; // as node:sqlite's errors carry it
    throw error;
  }
}

/** A file that may only be read would be opened all the same, and its lock would keep no process out. */
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
  const write = (stopping: boolean) =>
    writeFileSync(holderFile, JSON.stringify({ pid: process.pid, stopping } satisfies Holder));
  let held = true;
  write(false);
  return {
    /** Records that `release` is near, so that others wait for it. */
    announceRelease: () => held && write(true),
    release() {
      if (!held) return;
      held = false;
      rmSync(holderFile, { force: true });
      database.close();
    },
  };
}

/** Written by `heldLock` only. */
const readHolder = (file: string) => ifThere(() => JSON.parse(readFileSync(file, 'utf8')) as Holder);
