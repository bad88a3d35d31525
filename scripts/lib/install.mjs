import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withInstallLock } from './install-lock.mjs';
import { npmInstall } from './npm.mjs';
import { ROOT } from './paths.mjs';

const MARKER = join(ROOT, 'node_modules', '.taskmesh-installed.json');

/**
 * Brings the dependencies that are needed: `production` for running, `all` for developing. Does nothing when they are
 * there; a full installation serves both and is never cut down.
 */
export async function ensureInstalled(need) {
  if (serves(readJson(MARKER), need)) return;
  await withInstallLock(async () => {
    const earlier = readJson(MARKER);
    if (serves(earlier, need)) return;
    const found = adoptInstallation();
    if (serves(found, need)) return;
    const set = [need, earlier?.set, found?.set].includes('all') ? 'all' : 'production';
    const begin = Date.now();
    console.log('Installing dependencies (once) …');
    // Not `npm ci`: the lock file may lack optional packages of other systems, which `ci` refuses and this does not mind.
    await npmInstall([set === 'all' ? '--include=dev' : '--omit=dev'], { cwd: ROOT, what: 'Installing dependencies' });
    writeMarker(set);
    console.log(`Dependencies are installed (${Math.round((Date.now() - begin) / 1000)} s).`);
  });
}

/** Builds the page at `/` when there is no build of these sources. */
export async function ensureConsole() {
  // What it imports may have just been installed.
  const { provideConsole } = await import('../../services/gateway/console/build/provide.mjs');
  await provideConsole();
}

function serves(marker, need) {
  return marker !== undefined && marker.lock === lockHash() && (marker.set === 'all' || need === 'production');
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
}

function writeMarker(set) {
  const marker = { lock: lockHash(), set };
  writeFileSync(`${MARKER}.${process.pid}`, JSON.stringify(marker));
  renameSync(`${MARKER}.${process.pid}`, MARKER);
  return marker;
}

/** What somebody installed by calling npm themselves, told by npm's own list of what is there. */
function adoptInstallation() {
  const installed = readJson(join(ROOT, 'node_modules', '.package-lock.json'))?.packages;
  if (!installed) return undefined;
  const wanted = Object.entries(readJson(join(ROOT, 'package-lock.json')).packages).filter(([path]) =>
    path.includes('node_modules/'),
  );
  const has = ([path, { version }]) => installed[path] !== undefined && installed[path].version === version;
  const isOptional = ([, { optional, devOptional }]) => optional || devOptional;
  const isDev = ([, { dev, devOptional }]) => dev || devOptional;
  const complete = (entries) => entries.every((entry) => isOptional(entry) || has(entry));
  if (complete(wanted)) return writeMarker('all');
  if (!wanted.some((entry) => isDev(entry) && has(entry)) && complete(wanted.filter((entry) => !isDev(entry))))
    return writeMarker('production');
  // Of another version, or cut short: to be installed anew, with the developers' tools if there were any.
  return { lock: undefined, set: wanted.some((entry) => isDev(entry) && has(entry)) ? 'all' : 'production' };
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
