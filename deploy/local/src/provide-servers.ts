import * as servers from '@taskmesh/local-servers';
import {
  allOf,
  indent,
  PlainError,
  startPostgres,
  startRedis,
  type Server,
  type ServerOptions,
} from '@taskmesh/local-servers';
import { findPostgresProblem } from '@taskmesh/store/postgres-problems';
import { readRedisSettings, findRedisProblem } from '@taskmesh/key-value';
import { readKafkaSettings, findKafkaProblem } from '@taskmesh/service/event-log';
import { ConfigError, type Env, type Refusal } from '@taskmesh/service';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The cache of all tools of this checkout. */
const CACHE = fileURLToPath(new URL('../../../.cache', import.meta.url));
export const startKafka = (options: servers.KafkaServerOptions) => servers.startKafka({ cacheDir: CACHE, ...options });
export const findKafka = (log: (line: string) => void) => servers.findKafka(log, CACHE);

export type ServerName = 'postgres' | 'redis' | 'kafka';

interface ServerKind {
  title: string;
  /** The variable that names the user's own server. */
  variable: string;
  start(options: ServerOptions): Promise<Server>;
  /** Returns why the server that `env` names cannot be used. */
  findProblem(env: Env): Promise<Refusal | undefined>;
}

const SERVER_KINDS: Record<ServerName, ServerKind> = {
  postgres: {
    ...{ title: 'PostgreSQL', variable: 'POSTGRES_URL', start: startPostgres },
    findProblem: ({ POSTGRES_URL = '' }) => findPostgresProblem(POSTGRES_URL),
  },
  redis: {
    ...{ title: 'Redis', variable: 'REDIS_URL', start: startRedis },
    async findProblem(env) {
      const settings = readRedisSettings(env);
      return settings && findRedisProblem(settings);
    },
  },
  kafka: {
    ...{ title: 'Kafka', variable: 'KAFKA_BROKERS', start: startKafka },
    async findProblem(env) {
      const settings = readKafkaSettings(env);
      return settings && findKafkaProblem(settings);
    },
  },
};

const SERVER_NAMES: ServerName[] = ['postgres', 'redis', 'kafka'];

export type ProvidedServers = Awaited<ReturnType<typeof provideServers>>;

/** Runs a server, on the same port after a restart. Lets a caller supervise servers in its own way. */
export type RunServer = (
  name: ServerName,
  start: (again?: Pick<ServerOptions, 'port' | 'signal'>) => Promise<Server>,
) => Promise<{ url: string; stop(): Promise<void> }>;

/**
 * Provides PostgreSQL, Redis and Kafka: uses the servers that `env` names (they must respond), and starts the others with their
 * data under `dataDir`.
 * @throws PlainError with the problems of all three, after stopping the started ones
 */
export async function provideServers(options: {
  env: Env;
  dataDir: string;
  log: (line: string) => void;
  isThrowaway?: boolean;
  run?: RunServer;
}) {
  const { env, dataDir, log, isThrowaway = false, run = (_name, start) => start() } = options;
  const started = new Map<ServerName, { stop(): Promise<void> }>();
  const stop = async () => void (await Promise.all([...started.values()].map((server) => server.stop())));
  const provide = async (name: ServerName) => {
    const { title, variable, start } = SERVER_KINDS[name];
    const external = env[variable];
    if (external) {
      const refusal = await findExternalProblem(name, env);
      if (refusal) throw new PlainError(`${refusal.reason} Correct it, or unset it to have one started.`);
      return external;
    }
    const begin = performance.now();
    const server = await run(name, (again) => start({ dataDir: join(dataDir, name), log, isThrowaway, ...again }));
    started.set(name, server);
    log(`${title} is ready (${((performance.now() - begin) / 1000).toFixed(1)} s).`);
    return server.url;
  };
  try {
    const [postgres = '', redis = '', kafka = ''] = await allOf(SERVER_NAMES.map(provide), (problems) => {
      const items = problems.map((problem) => `  - ${indent(problem).trimStart()}`);
      return `Not all servers are available:\n${items.join('\n')}`;
    });
    return {
      /** By server: a URL, or Kafka's `host:port`. */
      urls: { postgres, redis, kafka },
      /** The settings that name these servers. */
      env: { POSTGRES_URL: postgres, REDIS_URL: redis, KAFKA_BROKERS: kafka },
      /** The servers that we started, and a function that stops them. */
      ...{ started, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns a reason as a whole sentence; undefined if the server that `env` names can be used. */
async function findExternalProblem(name: ServerName, env: Env): Promise<Refusal | undefined> {
  const { title, variable, findProblem } = SERVER_KINDS[name];
  const refusal = await findProblem(env);
  if (!refusal) return undefined;
  const reason = refusal.reason.replace(/\.$/, '');
  return { ...refusal, reason: `${variable} is set, but no ${title} works there: it ${reason}.` };
}

/** Servers for mails and archives. Nothing else depends on them, so it is enough to check that something listens. */
function occasionalServers({ SMTP_URL, BACKUP_S3_URL }: Env) {
  const parse = (url: string | null | undefined) => (url && URL.canParse(url) ? new URL(url) : undefined);
  const ports: Record<string, number> = { 'smtp:': 587, 'smtps:': 465, 'http:': 80, 'https:': 443 };
  return [
    { title: 'mail server', variable: 'SMTP_URL', url: parse(SMTP_URL) },
    {
      title: 'object storage',
      variable: 'BACKUP_S3_URL',
      url: parse(parse(BACKUP_S3_URL)?.searchParams.get('endpoint')),
    },
  ].flatMap(({ url, ...server }) => {
    const port = Number(url?.port) || ports[url?.protocol ?? ''];
    return url && port ? [{ ...server, port, host: url.hostname.replace(/^\[|\]$/g, '') }] : [];
  });
}

async function explainSilence({ title, variable, host, port }: ReturnType<typeof occasionalServers>[number]) {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(3_000) });
    return [];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what sockets and aborted waits reject with
    return [`${variable} is set, but no ${title} works there: ${host}:${port} does not respond (${code}).`];
  } finally {
    socket.destroy();
  }
}

/**
 * Checks every server that `env` names once. Returns a sentence for each one that does not respond yet.
 * @throws ConfigError with all sentences if waiting does not help, or if PostgreSQL is missing, which everything needs
 */
export async function checkExternalServers(env: Env): Promise<string[]> {
  const names = SERVER_NAMES.filter((name) => env[SERVER_KINDS[name].variable]);
  const refusals = await Promise.all(names.map((name) => findExternalProblem(name, env)));
  const sentences = refusals.flatMap((refusal) => refusal?.reason ?? []);
  const isFatal = refusals.some((refusal, index) => refusal?.isPermanent || (refusal && names[index] === 'postgres'));
  if (isFatal) throw new ConfigError(sentences);
  const silent = await Promise.all(occasionalServers(env).map(explainSilence));
  return [...sentences, ...silent.flat()];
}
