import { findFreePort, startPostgres } from '@taskmesh/local';
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { ClientTools } from './client-tools.ts';

export interface BenchServer {
  url: string;
  version: string;
  /** For the report: where it is from. */
  origin: string;
  stop(): Promise<void>;
}

const NOBODY = 65_534;
/** As the product sets its own server up, as far as it matters for the speed of loading. */
const SETTINGS = ['shared_buffers=128MB', 'max_wal_size=512MB', 'jit=off', 'unix_socket_directories=', 'fsync=on'];

/** The product's own PostgreSQL; the one of the client tools when those are older: pg_dump refuses a newer server. */
export async function startServerFor(
  tools: ClientTools | undefined,
  { dataDir, log }: { dataDir: string; log: (line: string) => void },
): Promise<BenchServer> {
  const own = await startPostgres({ dataDir: join(dataDir, 'postgres'), log });
  const ownMajor = Number(own.version.split('.')[0]);
  if (!tools?.serverBin || Number(tools.major) >= ownMajor)
    return { url: own.url, version: own.version, origin: 'from npm', stop: () => own.stop() };
  await own.stop();
  return startBeside(tools.serverBin);
}

async function startBeside(bin: string): Promise<BenchServer> {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-bench-pg-'));
  const data = join(dir, 'data');
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
  mkdirSync(data);
  if (user) [dir, data].forEach((path) => chownSync(path, user.uid, user.gid));
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--locale=C'],
    {
      ...user,
      cwd: dir,
      stdio: 'ignore',
    },
  );
  const port = await findFreePort();
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), ...SETTINGS.flatMap((setting) => ['-c', setting])];
  const child = spawn(join(bin, 'postgres'), args, { ...user, cwd: dir, stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const stop = async () => {
    child.kill('SIGINT');
    await exited;
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    return { url, version: await versionOf(url), origin: 'of the client tools', stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function versionOf(url: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      const { rows } = await client.query<{ server_version: string }>('show server_version');
      return rows[0]?.server_version.split(' ')[0] ?? '';
    } catch (error) {
      if (tries > 200) throw error;
      await sleep(50);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
