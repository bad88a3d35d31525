import type { Registry } from 'prom-client';
import { createAdminServer } from './admin-server.ts';
import { settlesWithin, systemClock, type Clock } from './time.ts';
import { ConfigError, findSuspectSettings, readAll, readProcess, type Env, type ProcessConfig } from './config.ts';
import { inOrder, type HealthReport, type Service } from './lifecycle.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { openTelemetry, readTelemetry } from './telemetry/open-telemetry.ts';
import type { Tracing } from './telemetry/tracing.ts';
import { trimMemory, tuneV8 } from './v8.ts';

/** How long a process may take to stop its service. */
export const STOP_DEADLINE_MS = 25_000;

/** Provided by the process to its service. */
export interface ServiceProcess extends Pick<ProcessConfig, 'host' | 'port'> {
  clock: Clock;
  log: Log;
  metrics: Registry;
  tracing: Tracing;
}

export interface ServiceDeclaration<Settings> {
  name: string;
  /** The default of PORT. */
  port: number;
  /** Reads the settings of this service only. @throws ConfigError with every problem */
  settings: (env: Env) => Settings;
  /** Creates the parts, in the order of their start; they are stopped in reverse. */
  open: (settings: Settings, process: ServiceProcess) => Promise<OpenedService>;
}

export interface OpenedService {
  parts: Service[];
  /** Whether the service can do its work, for `/readyz`. It is never ready before its start or after its stop. */
  ready: () => HealthReport | Promise<HealthReport>;
}

/**
 * Runs a service as a process: reads its settings, creates it with log, metrics, traces and admin port, starts it, waits
 * for SIGTERM or SIGINT, stops it and exits. With wrong configuration, prints all problems to standard error and exits
 * with 1. A second signal exits at once.
 */
export async function runService<Settings>(env: Env, declaration: ServiceDeclaration<Settings>): Promise<void> {
  tuneV8();
  ignoreOutputErrors();
  const { service, log } = await create(declaration, env).catch((error: unknown) => {
    process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
    process.exit(1);
  });
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error({ deadlineMs: STOP_DEADLINE_MS }, 'did not stop in time');
      process.exit(1);
    }, STOP_DEADLINE_MS).unref();
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'failed to stop cleanly');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  try {
    await service.start();
    trimMemory();
  } catch (error) {
    if (stopping) return; // a start interrupted by the stop
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else log.fatal({ err: error }, 'failed to start');
    await settlesWithin(service.stop(), STOP_DEADLINE_MS).catch(() => undefined);
    process.exit(1);
  }
}

async function create<Settings>({ name, port, settings, open }: ServiceDeclaration<Settings>, env: Env) {
  const { own, general, traces } = readAll({
    own: () => settings(env),
    general: () => readProcess(env, port),
    traces: () => readTelemetry(env),
  });
  const log = createLog({ service: name, level: general.logLevel });
  for (const warning of findSuspectSettings(env)) log.warn(warning);
  const metrics = createMetrics({ service: name });
  const telemetry = await openTelemetry(traces, log, metrics);
  const opened = await open(own, { ...general, clock: systemClock, log, metrics, tracing: telemetry.tracing(name) });
  let started = false;
  // Starts last and stops first.
  const end: Service = { start: async () => void (started = true), stop: async () => void (started = false) };
  const admin = createAdminServer({
    host: general.adminHost,
    port: general.adminPort,
    metrics,
    async ready() {
      const { ok, checks } = await opened.ready();
      return { ok: ok && started, checks: { ...checks, started } };
    },
    log,
  });
  return { service: inOrder([telemetry, admin, ...opened.parts, end]), log };
}

/** The reader of our output may end before us, as `head` does: the failed writes must not end the process. */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
