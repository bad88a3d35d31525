import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { indent, PlainError } from '../errors.ts';
import { filesFor } from '../processes/data-dir.ts';
import type { PostgresBinaries } from './binaries.ts';
import { ensurePassword } from '../server.ts';
import { makeReachable, type ServerUser } from './server-user.ts';

export const SUPERUSER = 'postgres';
/** The default of 4,096 rounds per login is a fifth of a connection's cost, and test runs open thousands of connections. */
const CHEAP_LOGINS = ['--set', 'scram_iterations=1'];

/**
 * Creates the data directory and the superuser's password unless they exist. Returns the password.
 * @throws PlainError when the existing directory is not usable
 */
export async function ensureCluster(options: {
  dataDir: string;
  binaries: PostgresBinaries;
  user: ServerUser;
  isThrowaway?: boolean | undefined;
}): Promise<string> {
  const { dataDir, binaries, user, isThrowaway = false } = options;
  removeUnfinished(dataDir);
  const { passwordFile } = filesFor(dataDir);
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    checkVersion(dataDir, binaries.major);
    return readPassword(passwordFile);
  }
  rmSync(passwordFile, { force: true }); // belonged to data that were deleted
  const password = ensurePassword(passwordFile);
  const unfinished = `${dataDir}.unfinished-${process.pid}`;
  mkdirSync(unfinished, { recursive: true, mode: 0o700 });
  const settings = isThrowaway ? CHEAP_LOGINS : [];
  await runInitdb(unfinished, { binaries, user, password, settings }).catch((cause: Error) => {
    throw new PlainError(explain(unfinished, cause.message), { cause });
  });
  renameSync(unfinished, dataDir); // last, so that a directory with the final name is always complete
  return password;
}

function removeUnfinished(dataDir: string): void {
  const parent = dirname(dataDir);
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent))
    if (name.startsWith(`${basename(dataDir)}.unfinished-`)) rmSync(join(parent, name), { recursive: true });
}

function checkVersion(dataDir: string, major: string): void {
  const file = join(dataDir, 'PG_VERSION');
  if (!existsSync(file))
    throw new PlainError(`${dataDir} contains no PostgreSQL data. Move it away, or use another folder.`);
  const found = readFileSync(file, 'utf8').trim();
  if (found === major) return;
  throw new PlainError(
    `${dataDir} was written by PostgreSQL ${found}, but this version includes PostgreSQL ${major}.\n` +
      'Move the folder away (and restore a backup into the new one), or use a server of your own.',
  );
}

function readPassword(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new PlainError(`Cannot read ${file}, the password of the PostgreSQL data beside it.`, { cause });
  }
}

async function runInitdb(
  dir: string,
  options: { binaries: PostgresBinaries; user: ServerUser; password: string; settings: string[] },
): Promise<void> {
  const { binaries, user, password, settings } = options;
  const passwordFile = `${dir}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of [dir, passwordFile]) user.chown(path);
  const { paths, descriptors, close } = makeReachable(user, [dir, passwordFile]);
  const [dataPath = '', passwordPath = ''] = paths;
  const login = [`--pwfile=${passwordPath}`, '-U', SUPERUSER, '-A', 'scram-sha-256'];
  try {
    const child = spawn(binaries.initdb, ['-D', dataPath, ...login, ...settings, '-E', 'UTF8', '--locale=C'], {
      ...user.ids,
      cwd: '/',
      env: { TZ: 'UTC', LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe', ...descriptors],
    });
    const errors = child.stderr ? text(child.stderr) : '';
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error((await errors).trim());
  } finally {
    close();
    rmSync(passwordFile, { force: true });
  }
}

function explain(dir: string, errors: string): string {
  // In a container, root may be the only user.
  const isUserUnsuitable = /could not look up effective user ID|EINVAL|EPERM/.test(errors);
  const remedy =
    'PostgreSQL needs a user with a name other than root: start as one (or give this one an entry in /etc/passwd), or use a server of your own.';
  return [`PostgreSQL could not set up ${dir}:`, indent(errors), ...(isUserUnsuitable ? [remedy] : [])].join('\n');
}
