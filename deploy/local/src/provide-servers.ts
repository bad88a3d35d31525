import { join } from 'node:path';
import { Client } from 'pg';
import { brokerAnswers } from './kafka/broker-answers.ts';
import { startKafka } from './kafka/start-kafka.ts';
import { describeError, errorCode, errorMessage, PlainError } from './plain-error.ts';
import { indent } from './processes/child-process.ts';
import { startPostgres } from './postgres/start-postgres.ts';
import { pingRedis } from './redis/ping.ts';
import { startRedis } from './redis/start-redis.ts';
import type { Server, ServerOptions } from './server.ts';

export type ServerName = 'postgres' | 'redis' | 'kafka';

interface ServerKind {
  title: string;
  /** The variable with which a user names a server of their own. */
  variable: string;
  start(options: ServerOptions): Promise<Server>;
  /** Rejects or says false when the given server is of no use. */
  answers(url: string): Promise<boolean>;
}

export const SERVER_KINDS: Record<ServerName, ServerKind> = {
  postgres: { title: 'PostgreSQL', variable: 'POSTGRES_URL', start: startPostgres, answers: postgresAnswers },
  redis: { title: 'Redis', variable: 'REDIS_URL', start: startRedis, answers: pingRedis },
  kafka: { title: 'Kafka', variable: 'KAFKA_BROKERS', start: startKafka, answers: brokerAnswers },
};

export interface ProvidedServers {
  /** By server, where it is: a URL, or Kafka's `host:port`. */
  urls: Record<ServerName, string>;
  /** Those that we started; the others were given. */
  started: Map<ServerName, { stop(): Promise<void> }>;
  /** Stops what was started. */
  stop(): Promise<void>;
}

/** Starts a server, on the given port when it was there before. Lets a caller keep servers alive in its own way. */
export type RunServer = (
  name: ServerName,
  start: (port?: number) => Promise<Server>,
) => Promise<{ url: string; stop(): Promise<void> }>;

/**
 * PostgreSQL, Redis and Kafka: those that `env` names (they must answer), the others started with their data under `dataDir`.
 * @throws PlainError with the problems of all three at once; what was started is stopped again
 */
export async function provideServers(options: {
  env: Readonly<Record<string, string | undefined>>;
  dataDir: string;
  log: (line: string) => void;
  run?: RunServer;
}): Promise<ProvidedServers> {
  const { env, dataDir, log, run = (_name, start) => start() } = options;
  const names: ServerName[] = ['postgres', 'redis', 'kafka'];
  const started: ProvidedServers['started'] = new Map();
  const stop = async () => {
    await Promise.all([...started.values()].map((server) => server.stop()));
  };

  const results = await Promise.allSettled(
    names.map(async (name) => {
      const { title, variable, start } = SERVER_KINDS[name];
      const given = env[variable];
      if (given) return checkGiven(name, given);
      const begin = Date.now();
      const server = await run(name, (port) => start({ dataDir: join(dataDir, name), log, ...(port ? { port } : {}) }));
      started.set(name, server);
      log(`${title} is ready (${((Date.now() - begin) / 1000).toFixed(1)} s).`);
      return server.url;
    }),
  );
  const problems = results.flatMap((result) => (result.status === 'rejected' ? [describeError(result.reason)] : []));
  if (problems.length > 0) {
    await stop();
    throw new PlainError(
      `Not all servers are there:\n${problems.map((problem) => `  - ${indent(problem).trimStart()}`).join('\n')}`,
    );
  }
  const [postgres = '', redis = '', kafka = ''] = results.map((result) =>
    result.status === 'fulfilled' ? result.value : '',
  );
  return { urls: { postgres, redis, kafka }, started, stop };
}

async function checkGiven(name: ServerName, url: string): Promise<string> {
  const { title, variable, answers } = SERVER_KINDS[name];
  const cause = await answers(url).then(
    (yes) => (yes ? undefined : 'it refuses or answers nothing of use'),
    (error: unknown) => errorMessage(error) || errorCode(error) || 'no reason given', // the first error is empty when several addresses failed
  );
  if (cause === undefined) return url;
  throw new PlainError(
    `${variable} is set, but no ${title} works there: ${cause}. Correct it, or unset it to have one started.`,
  );
}

async function postgresAnswers(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // told by the query as well
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } finally {
    await client.end();
  }
}
