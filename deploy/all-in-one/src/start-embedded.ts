import { findMailProblems } from '@taskmesh/auth';
import { openKeyValue } from '@taskmesh/key-value';
import {
  acquireLock,
  checkExternalServers,
  checkWantedPorts,
  ensureMachineToken,
  ensureServiceDatabases,
  limitLogFile,
  localUrl,
  portOf,
} from '@taskmesh/local';
import { openEventLog } from '@taskmesh/service/event-log';
import {
  createAdminServer,
  createLog,
  createMetrics,
  findSuspectSettings,
  ensureWritableDirectory,
  openLogOutput,
  openTelemetry,
  settlesWithin,
  STOP_DEADLINE_MS,
  systemClock,
  type Env,
  type HealthReport,
} from '@taskmesh/service';
import { join } from 'node:path';
import { readEmbeddedSettings, readPlatformConfig } from './config.ts';
import { createPlatform } from './create-platform.ts';
import { keepPostgres } from './keep-postgres.ts';
import { waitUntilReady, type WaitOptions } from './wait-until-ready.ts';

export interface EmbeddedOptions extends Pick<WaitOptions, 'reportAfterMs'> {
  env: Env;
  progress: (line: string) => void;
  signal?: AbortSignal;
  /** For sampling traces: numbers from 0 up to 1. @default Math.random */
  random?: () => number;
}

export type Embedded = Awaited<ReturnType<typeof startEmbedded>>;

/**
 * Runs the whole platform in this process, with a real PostgreSQL beside it, which has its data in the data directory and
 * is restarted when it dies. Resolves when the platform accepts clients. If the start fails, stops everything that was
 * started.
 * @throws ConfigError, PlainError
 */
export async function startEmbedded({ env, progress, signal, random, reportAfterMs }: EmbeddedOptions) {
  const settings = readEmbeddedSettings(env);
  const { dataDir, platform: preliminary } = settings;
  const closers = new AsyncDisposableStack();
  try {
    ensureWritableDirectory('DATA_DIR', dataDir);
    const lock = await acquireLock(
      join(dataDir, 'run', 'embedded.lock'),
      `Another Taskmesh has its data in ${dataDir}`,
      signal,
    );
    closers.defer(() => lock.release());
    // At a terminal, this is a mistake to report now; a service in production would wait for the directory.
    if (!preliminary.backup.secrets.s3) ensureWritableDirectory('BACKUPS_DIR', preliminary.backup.backupsDir, 0o700);
    await checkWantedPorts(preliminary.gateway);
    signal?.throwIfAborted();

    for (const problem of [...findSuspectSettings(env), ...findMailProblems(env)]) progress(problem);
    for (const problem of await checkExternalServers(env)) progress(`${problem} Continuing without it until it does.`);
    const logFile = join(dataDir, 'logs', 'taskmesh.log');
    // The terminal is for people; logs go to a file.
    const destination = openLogOutput(logFile);
    closers.defer(() => destination.close());
    closers.defer(limitLogFile(logFile));
    const logOf = (service: string) => createLog({ service, level: preliminary.gateway.logLevel, destination });
    const log = logOf('platform');
    const metrics = createMetrics();
    let ready = (): HealthReport => ({ ok: false });
    const admin = createAdminServer({
      ...{ host: preliminary.gateway.adminHost, port: preliminary.gateway.adminPort, metrics, log: logOf('admin') },
      ready: () => ready(),
    });
    // Started first, because the rest may take minutes, and a supervisor would kill a process without a liveness probe.
    closers.defer(() => admin.stop());
    await admin.start();

    const postgres = settings.postgresUrl ? undefined : await keepPostgres(dataDir, progress, signal);
    if (postgres) closers.defer(() => postgres.stop());
    const postgresUrl = postgres?.current.url ?? settings.postgresUrl ?? '';
    await ensureServiceDatabases(postgresUrl, env, progress);
    signal?.throwIfAborted();

    progress('Starting the services …');
    const telemetry = await openTelemetry(settings.traces, log, metrics, random);
    closers.defer(() => telemetry.stop());
    const keyValue = openKeyValue(settings.redis, log);
    const eventLog = openEventLog(settings.kafka, { clientId: 'taskmesh', log, metrics });
    closers.defer(() => keyValue.close());
    closers.defer(() => eventLog.close());
    const machineToken = env.BACKUP_TOKEN ? undefined : ensureMachineToken(join(dataDir, 'keys'));
    const config = readPlatformConfig({ ...env, DATA_DIR: dataDir }, postgresUrl);
    const deps = { clock: systemClock, logOf, metrics, keyValue, eventLog, telemetry };
    const platform = await createPlatform(config, deps);
    ready = platform.ready;
    closers.defer(async () => {
      if (await settlesWithin(platform.stop(), STOP_DEADLINE_MS)) return;
      log.error({ deadlineMs: STOP_DEADLINE_MS }, 'did not stop in time');
    });
    closers.defer(() => void lock.announceRelease());
    // The signal that stops us may also have reached PostgreSQL, which must not be restarted.
    closers.defer(() => postgres?.retire());
    const adminUrl = localUrl(config.gateway.adminHost, config.gateway.adminPort);
    const failed = postgres?.givenUp ?? new Promise<never>(() => undefined);
    const reportMissing = (missing: string[]) =>
      progress(`Not ready yet: ${missing.join(', ')}. See ${adminUrl}/readyz?verbose and ${logFile}.`);
    await waitUntilReady({ started: platform.start(), ready, failed, reportMissing, signal, reportAfterMs });
    let stopping: Promise<void> | undefined;
    return {
      url: localUrl(config.gateway.host, portOf(platform.address())),
      adminUrl,
      dataDir,
      logFile,
      /** Undefined if there is a BACKUP_TOKEN. */
      machineToken,
      /** The current PostgreSQL process; undefined if POSTGRES_URL names a server. */
      get postgresPid() {
        return postgres?.pid;
      },
      /** Resolves with the reason when the platform cannot continue; it must still be stopped. */
      failed,
      stop: () => (stopping ??= closers.disposeAsync()),
    };
  } catch (error) {
    await closers.disposeAsync().catch(() => undefined); // the first failure is the one to report
    throw error;
  }
}
