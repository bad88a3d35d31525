import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
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

function isFetched() {
  try {
    const { version } = JSON.parse(readFileSync(join(home, 'node_modules', name, 'package.json'), 'utf8'));
    return version === FETCHED && existsSync(binary);
  } catch {
    return false;
  }
}

async function fetchNode() {
  if (isFetched()) return;
  console.log(`This is Node ${process.versions.node}. Fetching Node ${FETCHED} (once) …`);
  const args = ['--prefix', home, '--no-package-lock', `${name}@${FETCHED}`];
  try {
    await npmInstall(args, { cwd: CACHE, what: `Fetching Node ${FETCHED}` });
  } catch (error) {
    throw new Failure(
      `${error.message}\nNode ${NEEDED.join('.')} or newer is needed: install it (https://nodejs.org) and start again.`,
    );
  }
}
