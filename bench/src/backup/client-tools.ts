import { execFile, spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

/** PostgreSQL's own client, as this machine has it. */
export interface ClientTools {
  pgDump: string;
  psql: string;
  /** `15.18` */
  version: string;
  major: string;
  /** A server that came with the client; undefined when none did. */
  serverBin: string | undefined;
}

const run = promisify(execFile);

/** Undefined when there is no client on the PATH. */
export async function findClientTools(): Promise<ClientTools | undefined> {
  try {
    const { stdout } = await run('pg_dump', ['--version']);
    await run('psql', ['--version']);
    const version = /(\d+)(\.\d+)?/.exec(stdout)?.[0] ?? '';
    const major = version.split('.')[0] ?? '';
    const places = [`/usr/lib/postgresql/${major}/bin`, `/usr/pgsql-${major}/bin`];
    const serverBin = places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')));
    return { pgDump: 'pg_dump', psql: 'psql', version, major, serverBin };
  } catch {
    return undefined;
  }
}

/** `pg_dump | gzip > file`, and the file on the disk for good, as the product has it. */
export async function dumpAndZip({ pgDump }: ClientTools, url: string, file: string): Promise<void> {
  const dump = spawn(pgDump, ['--no-owner', '--no-privileges', url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const zip = spawn('gzip', [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const dumped = ended(dump, 'pg_dump');
  const zipped = ended(zip, 'gzip');
  await Promise.all([pipeline(dump.stdout, zip.stdin), pipeline(zip.stdout, createWriteStream(file)), dumped, zipped]);
  const written = await open(file, 'r+');
  await written.sync().finally(() => written.close());
}

/** Loads a plain dump in one transaction. */
export async function loadWithPsql({ psql }: ClientTools, url: string, file: string): Promise<void> {
  await run(psql, ['-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', file, url]);
}

function ended(child: ReturnType<typeof spawn>, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${name} ended with ${code}.`))));
  });
}
