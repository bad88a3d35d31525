import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CACHE } from './paths.mjs';

const LOCK = join(CACHE, 'install.lock');
/** A lock without a process id is one that is being made right now, unless it stays so. */
const UNNAMED_MS = 5_000;

/** Only one install at a time in this folder; others wait for their turn. */
export async function withInstallLock(action) {
  await acquire();
  try {
    return await action();
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

async function acquire() {
  mkdirSync(dirname(LOCK), { recursive: true });
  let told = false;
  let unnamedSince = Date.now();
  while (!tryMake()) {
    const holder = readHolder(LOCK);
    if (holder !== undefined) unnamedSince = Date.now();
    if (holder === undefined ? Date.now() - unnamedSince > UNNAMED_MS : !isAlive(holder)) removeStale(holder);
    else if (!told) {
      told = true;
      console.log('Waiting for another start to finish its installation …');
    }
    await sleep(200);
  }
}

function tryMake() {
  try {
    mkdirSync(LOCK);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeFileSync(join(LOCK, 'pid'), String(process.pid));
  return true;
}

function readHolder(lock) {
  try {
    return Number(readFileSync(join(lock, 'pid'), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** Moves the lock of a dead process away. Between look and move another waiter may have done so and made its own: that one goes back. */
function removeStale(holder) {
  const aside = `${LOCK}.stale-${process.pid}`;
  try {
    renameSync(LOCK, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  if (readHolder(aside) === holder) rmSync(aside, { recursive: true, force: true });
  else renameSync(aside, LOCK);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
