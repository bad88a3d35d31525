import { createIdentitySigner, createIdentityVerifier, GATEWAY_ROLES } from '@taskmesh/identity';
import {
  authRestore,
  backupOperators,
  createInternalClient,
  createServicePool,
  serveBackupWork,
  serveInternalApi,
  tasksRestore,
  createSubgraphServer,
} from '@taskmesh/internal-api';
import {
  adminSettings,
  bearerToken,
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
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readBackupConfig } from './config.ts';
import { createBackup } from './create-backup.ts';

const schema = z.object({
  ...processSettings,
  HOST: setting.host(),
  PORT: setting.port(),
  ADMIN_HOST: adminSettings.ADMIN_HOST,
  ADMIN_PORT: setting.port(),
  IDENTITY_PUBLIC_KEYS_FILE: setting.text(),
  IDENTITY_KEY_FILE: setting.text(),
  TASKS_URL: setting.url('http:', 'https:'),
  AUTH_URL: setting.url('http:', 'https:'),
});

await runMain(async () => {
  const { config, own, keys, traces } = readAll({
    config: () => readBackupConfig(process.env),
    own: () => readEnv(schema, process.env),
    keys: () => readKeySetFile(process.env, 'IDENTITY_PUBLIC_KEYS_FILE'),
    traces: () => readTelemetry(process.env),
  });
  const log = createLog({ service: 'backup', level: own.LOG_LEVEL });
  const metrics = createMetrics({ service: 'backup' });
  const telemetry = await openTelemetry(traces, log, metrics);
  const clock = systemClock;
  const verifier = createIdentityVerifier({ audience: 'backup', keys, callers: { gateway: GATEWAY_ROLES }, clock });

  const key = JSON.parse(readFileSync(own.IDENTITY_KEY_FILE, 'utf8'));
  const signer = createIdentitySigner({ issuer: 'backup', key, clock });
  const poolOf = (url: string) => createServicePool(new URL(url).origin);
  const pools = { tasks: poolOf(own.TASKS_URL), auth: poolOf(own.AUTH_URL) };

  const backup = await createBackup(config, {
    clock,
    owners: {
      tasks: createInternalClient(tasksRestore, { pool: pools.tasks, signer }),
      auth: createInternalClient(authRestore, { pool: pools.auth, signer }),
    },
    log,
    metrics,
  });
  const server = createSubgraphServer({
    subgraph: backup.subgraph,
    host: own.HOST,
    port: own.PORT,
    authenticate: (authorization) => verifier.verify(bearerToken(authorization)),
    routes: (app) => {
      serveBackupWork(app, {
        work: backup.work,
        verifier,
        onDefect: (error) => log.error({ err: error }, 'work for an operator failed'),
      });
      serveInternalApi(app, backupOperators, { implementation: backup.operators, verifier, log });
    },
    tracing: telemetry.tracing('backup'),
    log,
  });
  const connections = Object.values(pools).map((pool) => closeOnStop(() => pool.destroy()));
  const work = readyWhenStarted([...connections, backup, server], backup.ready);
  const admin = createAdminServer({ host: own.ADMIN_HOST, port: own.ADMIN_PORT, metrics, ready: work.ready, log });
  return { service: inOrder([telemetry, admin, work]), log };
});
