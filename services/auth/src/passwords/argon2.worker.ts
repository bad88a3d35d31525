/**
 * A thread that does nothing but hash, one password after the other. Its priority is that of others: a lower one changed
 * nothing that could be measured (ADR 9).
 */
import { hashSync, verifySync } from '@node-rs/argon2';
import { parentPort } from 'node:worker_threads';
import type { HashJob, HashResult } from './hash-thread.ts';

/** argon2id, OWASP's parameters: 19 MiB, two passes, one lane. (2 is `Algorithm.Argon2id`, a const enum.) */
const PARAMETERS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

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
