import { readSigningKeyFile } from '@taskmesh/identity';
import { readRedisSettings } from '@taskmesh/key-value';
import { readKafkaSettings, requireKafkaSettings } from '@taskmesh/service/event-log';
import { ConfigError, readAll, readEnv, readProcess, setting, type Env } from '@taskmesh/service';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** The gateway's settings, except how to reach other services (see `readGatewayProcess`). */
export type GatewayConfig = ReturnType<typeof readGatewayConfig>;
/** Limits for clients' documents; 0 disables a limit. */
export type GraphQLConfig = GatewayConfig['graphql'];
/** `compiled` is the executor of `@taskmesh/federation`, `apollo` that of @apollo/gateway. */
export type ExecutorKind = GatewayConfig['executor'];
/** How a gateway in a process of its own reaches other services. */
export type GatewayProcess = ReturnType<typeof readGatewayProcess>;

const network = z.union(
  [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()],
  'must be addresses or networks like 10.0.0.0/8, between commas',
);
const origin = z.string().refine((value) => URL.canParse(value) && new URL(value).origin === value, {
  message: 'must be origins like https://app.example.com, between commas',
});
const atLeastOne = () => setting.int(1, 1_000_000_000);
const limit = () => setting.int(0, 1_000_000_000);

const schema = z.object({
  PUBLIC_URL: setting.webAddress().optional(),
  DATA_DIR: setting.text().default('.data'),
  TASKS_CONTRACT: setting.oneOf(['full', 'reduced']).default('full'),
  SUPERGRAPH_FILE: setting.text().optional(),
  GATEWAY_EXECUTOR: setting.oneOf(['compiled', 'apollo']).default('compiled'),
  TRUSTED_PROXIES: setting.list().pipe(z.array(network)).default([]),
  CORS_ORIGINS: setting.list().pipe(z.array(origin)).default([]),
  REQUEST_TIMEOUT_S: setting.int(1, 86_400).default(30),
  GRAPHQL_MAX_DEPTH: limit().default(12),
  GRAPHQL_MAX_ALIASES: limit().default(30),
  GRAPHQL_MAX_TOKENS: limit().default(4_000),
  GRAPHQL_MAX_COST: limit().default(5_000),
  GRAPHQL_INTROSPECTION: setting.flag().optional(),
  TRUSTED_DOCUMENTS: setting.oneOf(['off', 'allow', 'only']).default('off'),
  TRUSTED_DOCUMENTS_FILE: setting.text().optional(),
  REALTIME_ANON_KEY: setting.text().optional(),
  REALTIME_MAX_SOCKETS_PER_USER: atLeastOne().default(20),
  REALTIME_MAX_SOCKETS_PER_IP: atLeastOne().default(1_000),
  REALTIME_MAX_SUBSCRIPTIONS: atLeastOne().default(20),
  REALTIME_MAX_MESSAGES_PER_S: atLeastOne().default(20),
  REALTIME_MAX_MESSAGE_BYTES: atLeastOne().default(64 * 1024),
  REALTIME_MAX_CONNECTION_AGE_S: limit().default(0),
  BACKUP_TOKEN: setting.token().optional(),
});

export const GATEWAY_PORT = 4000;

/** @throws ConfigError with every problem */
export function readGatewayConfig(env: Env) {
  const { general, values } = readAll({
    general: () => readProcess(env, GATEWAY_PORT),
    values: () => readEnv(schema, env),
  });
  const { production } = general;
  const problems = [
    production && !values.BACKUP_TOKEN && 'BACKUP_TOKEN is needed: with NODE_ENV=production backups need a token',
    values.TRUSTED_DOCUMENTS !== 'off' &&
      !values.TRUSTED_DOCUMENTS_FILE &&
      `TRUSTED_DOCUMENTS_FILE is needed: with TRUSTED_DOCUMENTS=${values.TRUSTED_DOCUMENTS}`,
    values.TRUSTED_DOCUMENTS === 'off' &&
      values.TRUSTED_DOCUMENTS_FILE !== undefined &&
      'TRUSTED_DOCUMENTS must be allow or only: with TRUSTED_DOCUMENTS_FILE',
  ].filter((problem) => problem !== false);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    ...general,
    /** The origin that clients see. */
    publicUrl: values.PUBLIC_URL ?? `http://127.0.0.1:${general.port}`,
    /** Which of the two task contracts `/api/tasks` serves. */
    tasksContract: values.TASKS_CONTRACT,
    /** A supergraph to serve instead of our own. */
    supergraphFile: values.SUPERGRAPH_FILE,
    executor: values.GATEWAY_EXECUTOR,
    /** Addresses and networks (CIDR) whose forwarding headers are trusted. */
    trustedProxies: values.TRUSTED_PROXIES,
    /** Origins whose pages may call from a browser. */
    corsOrigins: values.CORS_ORIGINS,
    /** A client that takes longer to send a request, or reads nothing of a response for this long, is disconnected. */
    requestTimeoutMs: values.REQUEST_TIMEOUT_S * 1_000,
    /** Memory that all clients together may occupy: requests, and responses that wait to be read. */
    maxKeptBytes: 128 * 1024 * 1024,
    graphql: {
      maxDepth: values.GRAPHQL_MAX_DEPTH,
      maxAliases: values.GRAPHQL_MAX_ALIASES,
      maxTokens: values.GRAPHQL_MAX_TOKENS,
      maxCost: values.GRAPHQL_MAX_COST,
      introspection: values.GRAPHQL_INTROSPECTION ?? !production,
      trustedDocuments: values.TRUSTED_DOCUMENTS,
      /** A JSON object that maps the SHA-256 (hex) of each document to its text. */
      trustedDocumentsFile: values.TRUSTED_DOCUMENTS_FILE,
    },
    realtime: {
      /** Required as `apikey`, unless that is an access token; undefined accepts any value. */
      anonKey: values.REALTIME_ANON_KEY,
      maxSocketsPerUser: values.REALTIME_MAX_SOCKETS_PER_USER,
      maxSocketsPerIp: values.REALTIME_MAX_SOCKETS_PER_IP,
      /** Per socket. */
      maxSubscriptions: values.REALTIME_MAX_SUBSCRIPTIONS,
      maxMessagesPerS: values.REALTIME_MAX_MESSAGES_PER_S,
      maxMessageBytes: values.REALTIME_MAX_MESSAGE_BYTES,
      /** Connections are closed at about this age, so that clients reconnect, perhaps to another gateway; 0: never. */
      maxConnectionAgeS: values.REALTIME_MAX_CONNECTION_AGE_S,
    },
    secrets: {
      backupToken: values.BACKUP_TOKEN,
      /** Without a backup token: makes our own pages operators when they are opened on this machine. */
      machineToken: values.BACKUP_TOKEN === undefined ? readMachineToken(values.DATA_DIR) : undefined,
    },
  };
}

const MACHINE_TOKEN = /^[\w-]{32,}$/;

/** The token that `npm start` and `npm run stack` create; undefined if there is none, or if it could be guessed. */
function readMachineToken(dataDir: string): { file: string; token: string } | undefined {
  const file = join(dataDir, 'keys', 'machine-token');
  try {
    const token = readFileSync(file, 'utf8').trim();
    return MACHINE_TOKEN.test(token) ? { file, token } : undefined;
  } catch {
    return undefined;
  }
}

/** A foreign graph contains its services' URLs, so it needs neither ours nor a key. */
function processSchema(isForeign: boolean) {
  const url = (name: string) => {
    const required = setting.url('http:', 'https:');
    return isForeign ? required.default(`http://${name}.invalid`) : required;
  };
  return z.object({
    AUTH_URL: url('auth'),
    TASKS_URL: url('tasks'),
    BACKUP_URL: url('backup'),
  });
}

/** @throws ConfigError with every problem */
export function readGatewayProcess(env: Env) {
  const isForeign = Boolean(env.SUPERGRAPH_FILE);
  const { values, identityKey, redis, kafka } = readAll({
    values: () => readEnv(processSchema(isForeign), env),
    identityKey: () => (isForeign && !env.IDENTITY_KEY_FILE ? undefined : readSigningKeyFile(env, 'IDENTITY_KEY_FILE')),
    redis: () => readRedisSettings(env),
    // A foreign graph need not have tasks.
    kafka: () => (isForeign ? readKafkaSettings(env) : requireKafkaSettings(env)),
  });
  return {
    urls: { auth: values.AUTH_URL, tasks: values.TASKS_URL, backup: values.BACKUP_URL },
    /** The private JWK that signs identity tokens; undefined if no service of ours needs them. */
    identityKey,
    redis,
    kafka,
  };
}
