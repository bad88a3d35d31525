import type { HealthReport } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;
/** A service that takes longer waits for an operator, for example to migrate a schema. */
const TELL_AFTER_MS = 10_000;

export interface WaitOptions {
  started: Promise<void>;
  ready(): HealthReport;
  /** Resolves with the reason when it never will be. */
  failed: Promise<Error>;
  /** Called once with what is missing, if that lasts. */
  tell(missing: string[]): void;
  signal?: AbortSignal | undefined;
  tellAfterMs?: number;
}

/** Resolves when clients may come. Rejects without waiting for the start when it fails, or is given up. */
export async function untilReady(options: WaitOptions): Promise<void> {
  const { started, ready, failed, tell, signal, tellAfterMs = TELL_AFTER_MS } = options;
  let hasStarted = false;
  let failure: unknown;
  const fail = (reason: unknown) => (failure = reason);
  started.then(() => (hasStarted = true), fail);
  void failed.then(fail);
  const tellAt = performance.now() + tellAfterMs;
  let isReported = false;
  for (let report = ready(); !hasStarted || !report.ok; report = ready()) {
    signal?.throwIfAborted();
    if (failure) throw failure;
    if (!isReported && performance.now() >= tellAt) {
      isReported = true;
      tell(missingIn(report));
    }
    await sleep(LOOK_EVERY_MS);
  }
}

const missingIn = ({ checks = {} }: HealthReport) =>
  Object.keys(checks).filter((name) => checks[name] === false && name !== 'draining');
