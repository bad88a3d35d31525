import type { HealthReport } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';

const CHECK_EVERY_MS = 20;
/** A service that takes longer is waiting for an operator, for example to migrate a schema. */
const REPORT_AFTER_MS = 10_000;

export interface WaitOptions {
  started: Promise<void>;
  ready(): HealthReport;
  /** Resolves with the reason when the platform will never be ready. */
  failed: Promise<Error>;
  /** Called once with the checks that still fail after `reportAfterMs`. */
  reportMissing(missing: string[]): void;
  signal?: AbortSignal | undefined;
  /** @default 10_000 */
  reportAfterMs?: number | undefined;
}

/** Resolves when the platform is ready for clients. Rejects at once when the start fails or is aborted. */
export async function waitUntilReady(options: WaitOptions): Promise<void> {
  const { started, ready, failed, reportMissing, signal, reportAfterMs = REPORT_AFTER_MS } = options;
  let hasStarted = false;
  let failure: unknown;
  const fail = (reason: unknown) => (failure = reason);
  started.then(() => (hasStarted = true), fail);
  void failed.then(fail);
  const reportAt = performance.now() + reportAfterMs;
  let isReported = false;
  for (let report = ready(); !hasStarted || !report.ok; report = ready()) {
    signal?.throwIfAborted();
    if (failure) throw failure;
    if (!isReported && performance.now() >= reportAt) {
      isReported = true;
      reportMissing(missingIn(report));
    }
    await sleep(CHECK_EVERY_MS);
  }
}

const missingIn = ({ checks = {} }: HealthReport) =>
  Object.keys(checks).filter((name) => checks[name] === false && name !== 'draining');
