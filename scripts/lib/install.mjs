import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { withInstallLock } from './install-lock.mjs';
import { npmInstall, NpmRefused, remedyFor } from './npm.mjs';
import { ROOT } from './paths.mjs';

const MODULES = join(ROOT, 'node_modules');
/** Ours: what was installed, or what is being installed and may stay unfinished. */
const MARKER = join(MODULES, '.taskmesh-installed.json');
/** npm's list of what is there, which it writes when it has finished. */
const NPMS_LIST = join(MODULES, '.package-lock.json');

/**
 * Brings the dependencies that are needed: `production` for running, `all` for developing. Does nothing when they are
 * there; a full installation serves both and is never cut down.
 */
export async function ensureInstalled(need) {
  if (serves(readJson(MARKER), need)) return;
  try {
    await withInstallLock(({ noteWorker }) => bring(need, noteWorker));
  } catch (error) {
    if (!error.syscall) throw error;
    // Whoever may not write here can still run what is whole.
    if (!serves(broughtByNpm(), need))
      throw new Failure(
        ['Installing dependencies failed.', `    ${error.message}`, remedyFor(error.code)].filter(Boolean).join('\n'),
      );
  }
}

async function bring(need, noteWorker) {
  const earlier = readJson(MARKER);
  if (serves(earlier, need)) return;
  const found = broughtByNpm();
  if (found) write(found);
  if (serves(found, need)) return;
  const set = [need, earlier?.set, setOnDisk()].includes('all') ? 'all' : 'production';
  if (earlier?.isUnfinished) removePackages();
  const begin = performance.now();
  console.log('Installing dependencies (once) …');
  write({ set, isUnfinished: true });
  rmSync(NPMS_LIST, { force: true });
  await install(set, noteWorker);
  const marker = markerOf(set);
  const missing = missingOf(marker);
  if (missing.length > 0)
    throw new Failure(
      `npm says that it has installed everything, but ${missing.length} of ${marker.packages.length} packages are not there (${missing[0]}).\nStart again: everything is then installed anew.`,
    );
  write(marker);
  console.log(`Dependencies are installed (${Math.round((performance.now() - begin) / 1000)} s).`);
}

/** All that the lock file has, whatever somebody has set for npm otherwise: without these it would leave packages out, or take others. */
const AS_LOCKED = ['--package-lock', '--no-legacy-peer-deps', '--include=peer', '--include=optional'];

/** Not `npm ci`: the lock file may lack optional packages of other systems, which `ci` refuses and this does not mind. */
async function install(set, onStart) {
  const args = [...AS_LOCKED, set === 'all' ? '--include=dev' : '--omit=dev'];
  try {
    await npmInstall(args, { cwd: ROOT, what: 'Installing dependencies', onStart });
  } catch (error) {
    if (error instanceof NpmRefused) write({ set }); // whatever is there is whole
    throw error;
  }
}

/** Builds the page at `/` when there is no build of these sources. */
export async function ensureConsole() {
  // What it imports may have just been installed.
  const { provideConsole } = await import('../../services/gateway/console/build/provide.mjs');
  await provideConsole();
}

function serves(marker, need) {
  return (
    marker?.packages !== undefined &&
    marker.lock === lockHash() &&
    (marker.set === 'all' || need === 'production') &&
    missingOf(marker).length === 0
  );
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

/** What is to be there when all is well. */
function markerOf(set) {
  const needed = wanted().filter(
    ([, { dev, optional, devOptional }]) => !optional && !devOptional && !(dev && set === 'production'),
  );
  return { lock: lockHash(), set, packages: needed.map(([path]) => path) };
}

function missingOf({ packages }) {
  return packages.filter((path) => !isOnDisk(path)); // 6 ms for 1,600
}

function isOnDisk(path) {
  return existsSync(join(ROOT, path, 'package.json'));
}

function write(marker) {
  mkdirSync(MODULES, { recursive: true });
  writeFileSync(`${MARKER}.${process.pid}`, JSON.stringify(marker));
  renameSync(`${MARKER}.${process.pid}`, MARKER);
}

/** The packages of the lock file, by where they belong. */
function wanted() {
  const { packages } = readJson(join(ROOT, 'package-lock.json'));
  return Object.entries(packages).filter(([path]) => path.includes('node_modules/'));
}

/** What npm has brought without us, or after the start that called it was killed. */
function broughtByNpm() {
  const installed = readJson(NPMS_LIST)?.packages;
  if (!installed) return undefined;
  const versions = new Map(wanted().map(([path, { version }]) => [path, version]));
  const marker = markerOf(setOnDisk());
  const isThere = (path) =>
    installed[path] !== undefined && installed[path].version === versions.get(path) && isOnDisk(path);
  return marker.packages.every(isThere) ? marker : undefined;
}

function setOnDisk() {
  return wanted().some(([path, { dev }]) => dev && isOnDisk(path)) ? 'all' : 'production';
}

/** npm that was killed may leave half a package, and takes it for a whole one afterwards. */
function removePackages() {
  const folders = new Set(
    wanted().map(([path]) => join(ROOT, path.slice(0, path.indexOf('node_modules')), 'node_modules')),
  );
  for (const folder of folders)
    if (existsSync(folder))
      for (const name of readdirSync(folder)) {
        const path = join(folder, name);
        if (path !== MARKER) rmSync(path, { recursive: true, force: true });
      }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
