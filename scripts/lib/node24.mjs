import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure, Interrupted } from './failure.mjs';
import { withInstallLock } from './install-lock.mjs';
import { npmInstall } from './npm.mjs';
import { CACHE } from './paths.mjs';

/** Runs TypeScript as it is, without a warning. */
const NEEDED = [24, 15];
const FETCHED = '24.21.0';

/** The path of a Node that can run the sources: this one, or one that npm brings once. */
export async function ensureNode24() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  if (!isFetched()) await withInstallLock(fetchNode);
  return binary;
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

const system = process.platform === 'win32' ? 'win' : process.platform;
const name = `node-${system}-${process.arch}`;
const home = join(CACHE, 'node');
const binary = join(home, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

/** By npm's own list, which it writes at the end: one that was killed may leave half a program. */
function isFetched() {
  try {
    const { packages } = JSON.parse(readFileSync(join(home, 'node_modules', '.package-lock.json'), 'utf8'));
    return packages[`node_modules/${name}`].version === FETCHED && existsSync(binary);
  } catch {
    return false;
  }
}

async function fetchNode({ noteWorker }) {
  if (isFetched()) return;
  rmSync(home, { recursive: true, force: true });
  console.log(`This is Node ${process.versions.node}. Fetching Node ${FETCHED} (once) …`);
  const args = ['--prefix', home, '--no-package-lock', `${name}@${FETCHED}`];
  try {
    await npmInstall(args, { cwd: CACHE, what: `Fetching Node ${FETCHED}`, onStart: noteWorker });
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    throw new Failure(
      `${error.message}\nNode ${NEEDED.join('.')} or newer is needed: install it (https://nodejs.org) and start again.`,
    );
  }
}
