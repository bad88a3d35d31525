import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONSOLE, hashOfSources } from './sources.mjs';

/** Contains a folder per build, named after the hash of its sources, and a file with the name of the current build. */
const BUILDS = join(CONSOLE, '../../../.cache/console');
const CURRENT = join(BUILDS, 'current');

/** Builds the console unless its current sources are built already. Safe to call from several processes at once. */
export async function provideConsole() {
  const hash = hashOfSources();
  if (!isThere(hash)) await makeBuild(hash);
  if (current() !== hash) replace(CURRENT, hash);
}

async function makeBuild(hash) {
  const { buildConsole } = await import('./build.mjs');
  const unfinished = join(BUILDS, `${hash}.${process.pid}`);
  try {
    await buildConsole(unfinished);
    renameSync(unfinished, join(BUILDS, hash));
  } catch (error) {
    if (!isThere(hash)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function isThere(hash) {
  return statSync(join(BUILDS, hash), { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function current() {
  try {
    return readFileSync(CURRENT, 'utf8');
  } catch {
    return undefined;
  }
}

function replace(file, text) {
  mkdirSync(BUILDS, { recursive: true });
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}
