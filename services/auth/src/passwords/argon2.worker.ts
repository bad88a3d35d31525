/** A thread that only hashes passwords, one at a time (ADR 9). */
import { hashSync, verifySync } from '@node-rs/argon2';
import { parentPort, workerData } from 'node:worker_threads';
import { PARAMETERS } from './argon2-hash.ts';
import type { HashJob, HashResult, Priority } from './hash-thread.ts';
import { stepAside } from './step-aside.ts';

const priority = workerData as Priority; // set by `startHashThread`

parentPort?.on('message', (job: HashJob) => parentPort?.postMessage(resultOf(job)));
// Starting takes long enough without others going first.
if (priority === 'low') parentPort?.once('message', () => stepAside());

function resultOf({ password, passwordHash }: HashJob): HashResult {
  try {
    return passwordHash === undefined
      ? { hash: hashSync(password, PARAMETERS) }
      : { matches: verifySync(passwordHash, password) };
  } catch (error) {
    return { failure: String(error) };
  }
}
