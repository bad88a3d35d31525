export {
  adminPortOf,
  adminSettings,
  ConfigError,
  isDecodable,
  isUrl,
  LOG_LEVELS,
  processSettings,
  readAll,
  readEnv,
  setting,
  withoutEmpty,
  type Env,
} from './config.ts';
export { isOneSlipAway } from './nearest-name.mjs';
export { misspelt, refuseRemoved } from './misspelt.ts';
export { shortTokens } from './short-tokens.ts';
export { readVersion } from './version.ts';
export { readKeySetFile, type NamedKeySet } from './key-set-file.ts';
export { explainTls, takeTlsFiles, type Refusal, type TlsFiles } from './tls.ts';
export { createLog, type Log } from './log.ts';
export { openLogOutput } from './log-output.ts';
export { asJson, isAbsent, isObject, parseJson } from './json.ts';
export { backoffMs, type Backoff } from './backoff.ts';
export { pause } from './pause.ts';
export { settlesWithin, withDeadline } from './deadline.ts';
export { askInTime } from './ask-in-time.ts';
export { createFailureLog, type FailureLog } from './failure-log.ts';
export { createPeriodic, type Periodic } from './periodic.ts';
export { monotonicClock, systemClock, type Clock } from './clock.ts';
export { timeOrderedIds, type Ids } from './ids.ts';
export {
  closeOnStop,
  Closers,
  inOrder,
  readyWhenStarted,
  settleAll,
  startAll,
  stopAll,
  type HealthReport,
  type Service,
} from './lifecycle.ts';
export { createAdminServer, createMetrics, type AdminServerOptions } from './admin-server.ts';
export { isLoopbackAddress, isLoopbackHost } from './loopback.ts';
export { createFairQueue, type FairQueue } from './fair-queue.ts';
export { createBulkhead, type Bulkhead, type BulkheadOptions } from './bulkhead.ts';
export { networkOf, NETWORKS_PER_SITE, siteOf } from './network-of.ts';
export { bearerToken } from './bearer.ts';
export { isSameSecret } from './is-same-secret.ts';
export { issueSignInCode, takeSignInCode } from './sign-in-code.ts';
export { createLatencyHistogram, type LatencyHistogram, type Observe } from './latency-histogram.ts';
export { setV8Flags } from './v8-flags.ts';
export { trimMemory } from './trim-memory.ts';
export { surviveClosedOutput } from './survive-closed-output.ts';
export { runMain, STOP_DEADLINE_MS } from './run-main.ts';
export { ensureWritableDirectory } from './writable-directory.ts';
export { closePromptly } from './prompt-close.ts';
export { openTelemetry, readTelemetry, type Telemetry, type TelemetryConfig } from './telemetry/open-telemetry.ts';
export { requestSpan, traceRequests, traceResponse } from './telemetry/trace-requests.ts';
export * from './telemetry/index.ts';
