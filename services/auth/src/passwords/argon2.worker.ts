/** A thread that only hashes passwords, one at a time (ADR 9). */
import { hashSync, verifySync } from '@node-rs/argon2';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { PARAMETERS } from './argon2-hash.ts';
import type { HashJob, HashResult, Priority } from './hash-thread.ts';

const priority = workerData as Priority; // set by `startHashThread`
// Linux gives each thread a priority of its own. Elsewhere this would be the whole process's.
if (priority === 'low' && process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);

parentPort?.on('message', (job: HashJob) => parentPort?.postMessage(resultOf(job)));

function resultOf({ password, passwordHash }: HashJob): HashResult {
  try {
    return passwordHash === undefined
      ? { hash: hashSync(password, PARAMETERS) }
      : { matches: verifySync(passwordHash, password) };
  } catch (error) {
    return { failure: String(error) };
  }
}
