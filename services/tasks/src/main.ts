import { createIdentityVerifier, type KeySet } from '@taskmesh/identity';
import { serveInternalApi, tasksInternal } from '@taskmesh/internal-api';
import { createKafkaEventLog } from '@taskmesh/messaging';
import {
  ConfigError,
  createAdminServer,
  createLog,
  createMetrics,
  processSettings,
  readAll,
  readEnv,
  runMain,
  setting,
  startAll,
  stopAll,
  systemClock,
  type Env,
  type Service,
} from '@taskmesh/service';
import { createSubgraphServer } from '@taskmesh/subgraph';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readTasksConfig } from './config.ts';
import { createTasks } from './create-tasks.ts';

const ADMIN_PORT_DISTANCE = 10_000;

const settings = z.object({
  LOG_LEVEL: processSettings.LOG_LEVEL,
  HOST: setting.text().default('127.0.0.1'),
  PORT: setting.port().default(4002),
  ADMIN_PORT: setting.port().optional(),
  KAFKA_BROKERS: setting.list(),
  IDENTITY_PUBLIC_KEYS_FILE: setting.text(),
});

function readKeys(env: Env): KeySet {
  const file = env.IDENTITY_PUBLIC_KEYS_FILE;
  if (!file) return { keys: [] }; // that it is missing is told by the settings
  try {
    const set = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })).min(1) });
    return set.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new ConfigError([`IDENTITY_PUBLIC_KEYS_FILE must name a readable JWK set (is: ${JSON.stringify(file)})`]);
  }
}

await runMain(async () => {
  const { env } = process;
  const { config, own, identityKeys } = readAll({
    config: () => readTasksConfig(env),
    own: () => readEnv(settings, env),
    identityKeys: () => readKeys(env),
  });
  const { HOST: host, PORT: port, LOG_LEVEL: level, KAFKA_BROKERS: brokers } = own;
  const log = createLog({ service: 'tasks', level });
  const metrics = createMetrics({ service: 'tasks' });
  const eventLog = createKafkaEventLog({ brokers, clientId: 'taskmesh-tasks', log });
  const tasks = await createTasks(config, { clock: systemClock, log, eventLog, metrics });
  const verifier = createIdentityVerifier({ audience: 'tasks', keys: identityKeys, clock: systemClock });

  const server = createSubgraphServer({
    subgraph: tasks.subgraph,
    host,
    port,
    authenticate: (authorization) => verifier.verify(authorization?.replace(/^Bearer /, '') ?? ''),
    routes: (app) => serveInternalApi(app, tasksInternal, tasks.internal, verifier),
    log,
  });
  const adminPort = own.ADMIN_PORT ?? (port === 0 ? 0 : port + ADMIN_PORT_DISTANCE);
  const admin = createAdminServer({ host, port: adminPort, metrics, ready: tasks.ready, log });
  const broker: Service = { start: () => Promise.resolve(), stop: () => eventLog.close() };
  const parts = [broker, tasks, server, admin];
  return { service: { start: () => startAll(parts), stop: () => stopAll(parts) }, log };
});
