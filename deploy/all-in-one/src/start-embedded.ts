import { createMemoryKeyValue, createRedisKeyValue } from '@taskmesh/key-value';
import { acquireLock, checkWantedPorts, ensureDatabases, serviceDatabases, startPostgres } from '@taskmesh/local';
import { createKafkaEventLog, createMemoryEventLog } from '@taskmesh/messaging';
import { Closers, createLog, createMetrics, systemClock, type Env, type Log } from '@taskmesh/service';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { readEmbeddedSettings, readPlatformConfig, type EmbeddedSettings } from './config.ts';
import { createPlatform } from './create-platform.ts';

export interface EmbeddedOptions {
  env: Env;
  /** Hears what is being done, a line at a time. */
  progress: (line: string) => void;
  /** Gives up when it is aborted. */
  signal?: AbortSignal;
}

export interface Embedded {
  /** Where the gateway listens. */
  url: string;
  adminUrl: string;
  dataDir: string;
  logFile: string;
  /** The PostgreSQL of this platform; undefined when one was given. */
  postgresPid: number | undefined;
  stop(): Promise<void>;
}

/**
 * The whole platform in this process, with a real PostgreSQL beside it whose data stay in the data directory.
 * When anything fails, whatever had started is stopped again.
 * @throws ConfigError, PlainError
 */
export async function startEmbedded({ env, progress, signal }: EmbeddedOptions): Promise<Embedded> {
  const settings = readEmbeddedSettings(env);
  const { dataDir } = settings;
  const closers = new Closers();
  try {
    mkdirSync(dataDir, { recursive: true });
    const lock = await acquireLock(
      join(dataDir, 'run', 'embedded.lock'),
      `Another Taskmesh has its data in ${dataDir}`,
    );
    closers.add(() => lock.release());
    const early = readPlatformConfig(env, settings.postgresUrl ?? 'postgres://not-started.invalid/postgres').gateway;
    await checkWantedPorts(early);
    signal?.throwIfAborted();

    const postgres = settings.postgresUrl ? undefined : await startOwnPostgres(dataDir, progress);
    if (postgres) closers.add(() => postgres.stop());
    const postgresUrl = postgres?.url ?? settings.postgresUrl ?? '';
    await ensureDatabases(postgresUrl, serviceDatabases(settings.databasePrefix));
    signal?.throwIfAborted();

    progress('Starting the services …');
    const logFile = join(dataDir, 'logs', 'taskmesh.log');
    const logOf = createFileLogs(logFile, settings.logLevel);
    const { keyValue, eventLog } = shared(settings, logOf('platform'));
    closers.add(() => keyValue.close());
    closers.add(() => eventLog.close());
    const config = readPlatformConfig(env, postgresUrl);
    const deps = { clock: systemClock, logOf, metrics: createMetrics(), keyValue, eventLog };
    const platform = await createPlatform(config, deps);
    closers.add(() => platform.stop());
    await platform.start();
    closers.add(() => lock.announceRelease());
    return {
      url: platform.address(),
      adminUrl: `http://${config.gateway.adminHost}:${config.gateway.adminPort}`,
      dataDir,
      logFile,
      postgresPid: postgres?.pid,
      stop: () => closers.closeAll(),
    };
  } catch (error) {
    await closers.closeAll().catch(() => undefined); // the first failure is the one to tell
    throw error;
  }
}

async function startOwnPostgres(dataDir: string, progress: (line: string) => void) {
  progress('Starting PostgreSQL …');
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres'), log: progress });
  progress(`PostgreSQL ${postgres.version} is ready.`);
  return postgres;
}

/** The terminal belongs to people; what happens inside goes to a file. */
function createFileLogs(file: string, level: string): (service: string) => Log {
  const destination = pino.destination({ dest: file, mkdir: true, sync: true });
  return (service) => createLog({ service, level, destination });
}

function shared({ redisUrl, kafkaBrokers, kafkaTopicPrefix }: EmbeddedSettings, log: Log) {
  return {
    keyValue: redisUrl
      ? createRedisKeyValue({ url: redisUrl, log, clock: systemClock })
      : createMemoryKeyValue({ log, clock: systemClock }),
    eventLog: kafkaBrokers
      ? createKafkaEventLog({ brokers: kafkaBrokers, topicPrefix: kafkaTopicPrefix, clientId: 'taskmesh', log })
      : createMemoryEventLog({ log }),
  };
}
