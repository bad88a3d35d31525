import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../is-alive.ts';

const NAME = /^\.unfinished-(\d+)-[0-9a-f]+-(.*)$/s;
/** A file still being written was modified more recently. */
const FORGOTTEN_MS = 60 * 60 * 1000;

/** A name for an unfinished file, which contains the writing process and host, and is never listed. */
export function unfinishedName(): string {
  return `.unfinished-${process.pid}-${randomBytes(6).toString('hex')}-${hostname()}`;
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
  if (host === hostname() && Number(pid) !== process.pid && !isAlive(Number(pid))) return true;
  const stats = await stat(join(dir, name)).catch(() => undefined);
  return stats !== undefined && now - stats.mtimeMs > FORGOTTEN_MS;
}
