import { createIdentitySigner, createIdentityVerifier, GATEWAY_ROLES } from '@taskmesh/identity';
import {
  accountsInternal,
  createInternalClient,
  createServicePool,
  deadLettersInternal,
  serveInternalApi,
  tasksInternal,
  tasksOperators,
  tasksRestore,
  createSubgraphServer,
} from '@taskmesh/internal-api';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { measureEventLog, readKafkaSettings, traceEventLog } from '@taskmesh/service/event-log';
import {
  adminPortOf,
  adminSettings,
  bearerToken,
  closeOnStop,
  ConfigError,
  createAdminServer,
  createLog,
  createMetrics,
  inOrder,
  openTelemetry,
  processSettings,
  readAll,
  readEnv,
  readKeySetFile,
  readTelemetry,
  readyWhenStarted,
  runMain,
  setting,
  systemClock,
  type Env,
} from '@taskmesh/service';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readTasksConfig } from './config.ts';
import { createTasks } from './create-tasks.ts';

const ports = { PORT: setting.port().default(4002), ADMIN_PORT: setting.port().optional() };
const settings = z.object({
  LOG_LEVEL: processSettings.LOG_LEVEL,
  HOST: setting.host(),
  ...ports,
  ...adminSettings,
  IDENTITY_PUBLIC_KEYS_FILE: setting.text(),
  IDENTITY_KEY_FILE: setting.text(),
  AUTH_URL: setting.url('http:', 'https:'),
});

function requireKafka(env: Env) {
  const kafka = readKafkaSettings(env);
  if (!kafka) throw new ConfigError(['KAFKA_BROKERS is needed: host:port, several between commas']);
  return kafka;
}

await runMain(async () => {
  const { env } = process;
  const { config, own, adminPort, kafka, identityKeys, traces } = readAll({
    config: () => readTasksConfig(env),
    own: () => readEnv(settings, env),
    adminPort: () => adminPortOf(readEnv(z.object(ports), env)),
    kafka: () => requireKafka(env),
    identityKeys: () => readKeySetFile(env, 'IDENTITY_PUBLIC_KEYS_FILE'),
    traces: () => readTelemetry(env),
  });
  const { HOST: host, PORT: port, LOG_LEVEL: level } = own;
  const log = createLog({ service: 'tasks', level });
  const metrics = createMetrics({ service: 'tasks' });
  const telemetry = await openTelemetry(traces, log, metrics);
  const tracing = telemetry.tracing('tasks');
  const plainLog = createKafkaEventLog({ ...kafka, clientId: 'taskmesh-tasks', log });
  const eventLog = traceEventLog(measureEventLog(plainLog, metrics), tracing);
  const key = JSON.parse(readFileSync(own.IDENTITY_KEY_FILE, 'utf8'));
  const signer = createIdentitySigner({ issuer: 'tasks', key, clock: systemClock });
  const pool = createServicePool(new URL(own.AUTH_URL).origin);
  const accounts = createInternalClient(accountsInternal, { pool, signer });
  const tasks = await createTasks(config, { clock: systemClock, log, eventLog, accounts, metrics });
  const verifier = createIdentityVerifier({
    audience: 'tasks',
    keys: identityKeys,
    callers: { gateway: GATEWAY_ROLES, backup: ['service'] },
    clock: systemClock,
  });

  const server = createSubgraphServer({
    subgraph: tasks.subgraph,
    host,
    port,
    authenticate: (authorization) => verifier.verify(bearerToken(authorization)),
    routes: (app) => {
      serveInternalApi(app, tasksInternal, { implementation: tasks.internal, verifier, log });
      serveInternalApi(app, tasksRestore, { implementation: tasks.restore, verifier, log });
      serveInternalApi(app, tasksOperators, { implementation: tasks.operators, verifier, log });
      serveInternalApi(app, deadLettersInternal, { implementation: tasks.deadLetters, verifier, log });
    },
    tracing,
    log,
  });
  const connections = [closeOnStop(() => eventLog.close()), closeOnStop(() => pool.destroy())];
  const work = readyWhenStarted([...connections, tasks, server], tasks.ready);
  const admin = createAdminServer({
    host: own.ADMIN_HOST,
    port: adminPort,
    metrics,
    ready: work.ready,
    log,
  });
  return { service: inOrder([telemetry, admin, work]), log };
});
