import { findFreePort } from '@taskmesh/local';
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';

/** PostgreSQL as it is installed somewhere on this machine, client and server. */
export interface Installation {
  bin: string;
  /** `15.18` */
  version: string;
}

const DEBIAN = '/usr/lib/postgresql';

/** Debian's, and those in the folders of `PG_BINS`, one of each version. */
export function findInstallations(): Installation[] {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : [];
  const bins = [...debian, ...(process.env.PG_BINS ?? '').split(delimiter)];
  const whole = bins.filter((bin) => ['initdb', 'postgres', 'pg_dump'].every((tool) => existsSync(join(bin, tool))));
  const found = whole.map((bin): [string, string] => {
    const version = execFileSync(join(bin, 'pg_dump'), ['--version'], { encoding: 'utf8' });
    return [/\d+\.\d+/.exec(version)?.[0] ?? version, bin];
  });
  return [...new Map(found)].map(([version, bin]) => ({ version, bin }));
}

const NOBODY_UID = 65_534;

/** A server of that installation, empty. */
export async function startInstallation({ bin }: Installation): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-pg-'));
  const data = join(dir, 'data');
  const user = process.getuid?.() === 0 ? { uid: NOBODY_UID, gid: NOBODY_UID } : {}; // it refuses to run as root
  mkdirSync(data);
  if (user.uid) for (const path of [dir, data]) chownSync(path, user.uid, user.gid);
  const options = { ...user, cwd: dir, stdio: 'ignore' } as const;
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'];
  execFileSync(join(bin, 'initdb'), init, options);
  const port = await findFreePort();
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-c', 'unix_socket_directories=', '-F'];
  const server = spawn(join(bin, 'postgres'), args, options);
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  while (server.exitCode === null && !(await answers(url))) await pause(50);
  return {
    url,
    async stop() {
      server.kill('SIGINT');
      await ended;
      rmSync(dir, { recursive: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
