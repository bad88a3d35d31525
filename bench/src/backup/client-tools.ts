import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** PostgreSQL's own client, as this machine has it. */
export type ClientTools = NonNullable<Awaited<ReturnType<typeof findClientTools>>>;

const run = promisify(execFile);

/** Undefined when there is no client on the PATH. */
export async function findClientTools() {
  try {
    const { stdout } = await run('pg_dump', ['--version']);
    await run('psql', ['--version']);
    const version = /(\d+)(\.\d+)?/.exec(stdout)?.[0] ?? '';
    const major = version.split('.')[0] ?? '';
    const places = [`/usr/lib/postgresql/${major}/bin`, `/usr/pgsql-${major}/bin`];
    /** Of a server that came with the client. */
    const serverBin = places.find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')));
    return { version, major, serverBin };
  } catch {
    return undefined;
  }
}

/** `pg_dump | gzip > file`, and the file on the disk for good, as the product has it. */
export async function dumpAndZip(url: string, file: string): Promise<void> {
  const line = 'set -o pipefail; pg_dump --no-owner --no-privileges "$0" | gzip > "$1"';
  await run('bash', ['-c', line, url, file]);
  const written = await open(file, 'r+');
  await written.sync().finally(() => written.close());
}

/** Loads a plain dump in one transaction. */
export async function loadWithPsql(url: string, file: string): Promise<void> {
  await run('psql', ['-X', '-q', '-1', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', file, url]);
}
