/**
 * A thread that only hashes passwords, one at a time. It runs at normal priority: a lower one made no measurable
 * difference (ADR 9).
 */
import { hashSync, verifySync } from '@node-rs/argon2';
import { parentPort } from 'node:worker_threads';
import { PARAMETERS } from './argon2-hash.ts';
import type { HashJob, HashResult } from './hash-thread.ts';

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
