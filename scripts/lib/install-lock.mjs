import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CACHE } from './paths.mjs';
import { isRunning, nameOfProcess } from './processes.mjs';

const LOCK = join(CACHE, 'install.lock');
/** A lock without a process is one that is being made right now, unless it stays so. */
const UNNAMED_MS = 5_000;

/**
 * Only one install at a time in this folder; others wait for their turn. `action` can name a process that works for it and
 * may outlive it: the lock holds until both have ended.
 */
export async function withInstallLock(action) {
  await acquire();
  try {
    return await action({ noteWorker: (pid) => note('worker', pid) });
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

async function acquire() {
  mkdirSync(dirname(LOCK), { recursive: true });
  let told;
  let unnamedSince = performance.now();
  while (!tryMake()) {
    const holder = noted(LOCK, 'pid');
    if (holder !== undefined) unnamedSince = performance.now();
    const wait = whyWait(holder, noted(LOCK, 'worker'));
    if (wait === undefined && (holder !== undefined || performance.now() - unnamedSince > UNNAMED_MS))
      removeStale(holder);
    else if (wait !== told) {
      told = wait;
      console.log(wait);
    }
    await sleep(200);
  }
}

function whyWait(holder, worker) {
  if (isRunning(holder)) return 'Waiting for another start to finish its installation …';
  if (isRunning(worker)) return 'Waiting for npm to end, which a start that was killed has left behind …';
  return undefined;
}

function tryMake() {
  try {
    mkdirSync(LOCK);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  note('pid', process.pid);
  return true;
}

function note(file, pid) {
  writeFileSync(join(LOCK, file), nameOfProcess(pid) ?? String(pid));
}

function noted(lock, file) {
  try {
    return readFileSync(join(lock, file), 'utf8') || undefined;
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
  if (noted(aside, 'pid') === holder) rmSync(aside, { recursive: true, force: true });
  else renameSync(aside, LOCK);
}
