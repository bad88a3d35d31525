import { createIdentityVerifier, GATEWAY_ROLES } from '@taskmesh/identity';
import {
  accountsInternal,
  authInternal,
  authOperators,
  authRestore,
  authSignIn,
  serveInternalApi,
  createSubgraphServer,
} from '@taskmesh/internal-api';
import { createMemoryKeyValue, createRedisKeyValue, readRedisSettings } from '@taskmesh/key-value';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { measureEventLog, readKafkaSettings, traceEventLog } from '@taskmesh/service/event-log';
import {
  adminPortOf,
  adminSettings,
  closeOnStop,
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
} from '@taskmesh/service';
import { z } from 'zod';
import { readAuthConfig, whyMailsFail } from './config.ts';
import { createAuth } from './create-auth.ts';
import { createIdentityStrategy } from './passport.ts';

const ports = { PORT: setting.port().default(4001), ADMIN_PORT: setting.port().optional() };
const settings = z.object({
  LOG_LEVEL: processSettings.LOG_LEVEL,
  HOST: setting.host(),
  ...ports,
  ADMIN_HOST: adminSettings.ADMIN_HOST,
  IDENTITY_PUBLIC_KEYS_FILE: setting.text(),
});

await runMain(async () => {
  const { env } = process;
  const { config, own, adminPort, redis, kafka, identityKeys, traces } = readAll({
    config: () => readAuthConfig(env),
    own: () => readEnv(settings, env),
    adminPort: () => adminPortOf(readEnv(z.object(ports), env)),
    redis: () => readRedisSettings(env),
    kafka: () => readKafkaSettings(env),
    identityKeys: () => readKeySetFile(env, 'IDENTITY_PUBLIC_KEYS_FILE'),
    traces: () => readTelemetry(env),
  });
  const { HOST: host, PORT: port, LOG_LEVEL: level } = own;
  const log = createLog({ service: 'auth', level });
  for (const problem of whyMailsFail(env)) log.warn(problem);
  const metrics = createMetrics({ service: 'auth' });
  const telemetry = await openTelemetry(traces, log, metrics);
  const keyValue = redis ? createRedisKeyValue({ ...redis, log }) : createMemoryKeyValue();
  const tracing = telemetry.tracing('auth');
  const eventLog =
    kafka &&
    traceEventLog(measureEventLog(createKafkaEventLog({ ...kafka, clientId: 'taskmesh-auth', log }), metrics), tracing);
  const auth = await createAuth(config, { clock: systemClock, log, keyValue, eventLog, metrics });
  const verifier = createIdentityVerifier({
    audience: 'auth',
    keys: identityKeys,
    callers: { gateway: GATEWAY_ROLES, backup: ['service'], tasks: ['service'] },
    clock: systemClock,
  });

  const server = createSubgraphServer({
    subgraph: auth.subgraph,
    host,
    port,
    authenticate: createIdentityStrategy(verifier),
    routes: (app) => {
      serveInternalApi(app, authInternal, { implementation: auth.internal, verifier, log });
      serveInternalApi(app, accountsInternal, { implementation: auth.accounts, verifier, log });
      serveInternalApi(app, authSignIn, { implementation: auth.signIn, verifier, log });
      serveInternalApi(app, authRestore, { implementation: auth.restore, verifier, log });
      serveInternalApi(app, authOperators, { implementation: auth.operators, verifier, log });
    },
    tracing,
    log,
  });
  const connections = [closeOnStop(() => keyValue.close()), closeOnStop(() => eventLog?.close())];
  const work = readyWhenStarted([...connections, auth, server], auth.ready);
  const admin = createAdminServer({ host: own.ADMIN_HOST, port: adminPort, metrics, ready: work.ready, log });
  return { service: inOrder([telemetry, admin, work]), log };
});
