export {
  ConfigError,
  doubtsAbout,
  ensureWritableDirectory,
  isUrl,
  LOG_LEVELS,
  processSettings,
  readAll,
  readEnv,
  readProcess,
  readVersion,
  refuseRemoved,
  setting,
  withoutEmpty,
  type Env,
  type ProcessConfig,
} from './config.ts';
export { isOneSlipAway } from './nearest-name.mjs';
export { explainTls, takeTlsFiles, type Refusal, type TlsFiles } from './tls.ts';
export { createFailureLog, createLog, openLogOutput, type Log } from './log.ts';
export { asJson, isAbsent, isObject, parseJson } from './json.ts';
export * from './time.ts';
export { count } from './counts.ts';
export { createPeriodic, eachByItself } from './periodic.ts';
export {
  closeOnStop,
  Closers,
  inOrder,
  settleAll,
  startAll,
  stopAll,
  type HealthReport,
  type Service,
} from './lifecycle.ts';
export { createAdminServer } from './admin-server.ts';
export { createLatencyHistogram, createMetrics, type LatencyHistogram, type Observe } from './metrics.ts';
export { createBulkhead, createFairQueue, type FairQueue } from './queues.ts';
export * from './network.ts';
export { isSameSecret, issueSignInCode, takeSignInCode } from './sign-in-code.ts';
export { runService, STOP_DEADLINE_MS, surviveClosedOutput } from './run-service.ts';
export { collectGarbage, trimMemory, tuneV8 } from './v8.ts';
export { openTelemetry, readTelemetry, type Telemetry } from './telemetry/open-telemetry.ts';
export {
  activeSpan,
  errorTypeOf,
  inSpan,
  NO_TRACING,
  outside,
  parseTraceparent,
  requestSpan,
  traceRequests,
  traceResponse,
  within,
  workIn,
  type Attributes,
  type Span,
  type SpanDescription,
  type Tracing,
} from './telemetry/tracing.ts';
