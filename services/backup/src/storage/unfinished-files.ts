import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../is-alive.ts';

const NAME = /^\.unfinished-(\d+)-[0-9a-f]+-(.*)$/s;
/** A file still being written was modified more recently. */
const FORGOTTEN_MS = 60 * 60 * 1000;

/** Those of this process. */
const inUse = new Set<string>();

/**
 * Runs `work` with the path of a file for what is unfinished, and removes that file afterwards if it is still there. Its
 * name contains the writing process and host, and is never listed.
 */
export async function withUnfinished<Result>(dir: string, work: (path: string) => Promise<Result>): Promise<Result> {
  const name = `.unfinished-${process.pid}-${randomBytes(6).toString('hex')}-${hostname()}`;
  inUse.add(name);
  try {
    return await work(join(dir, name));
  } finally {
    await rm(join(dir, name), { force: true }).catch(() => undefined); // best effort, as the next start sweeps
    inUse.delete(name);
  }
}

/** Removes what dead writers left in `dir`; returns the number of files. Other hosts' files are judged by age. */
export async function sweepUnfinished(dir: string, now: number): Promise<number> {
  const names = await readdir(dir);
  const abandoned = await Promise.all(names.map((name) => isAbandoned(dir, name, now)));
  const gone = names.filter((_name, index) => abandoned[index]);
  await Promise.all(gone.map((name) => rm(join(dir, name), { force: true })));
  return gone.length;
}

async function isAbandoned(dir: string, name: string, now: number): Promise<boolean> {
  const [, pid, host] = NAME.exec(name) ?? [];
  if (pid === undefined) return false;
  if (host === hostname() && hasEnded(name, Number(pid))) return true;
  const stats = await stat(join(dir, name)).catch(() => undefined);
  return stats !== undefined && now - stats.mtimeMs > FORGOTTEN_MS;
}

/** A restarted container gets the same process id. */
const hasEnded = (name: string, pid: number) => (pid === process.pid ? !inUse.has(name) : !isAlive(pid));
