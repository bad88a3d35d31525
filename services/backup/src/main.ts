import { createIdentitySigner, createIdentityVerifier } from '@taskmesh/identity';
import { authRestore, createInternalClient, serveBackupWork, tasksRestore } from '@taskmesh/internal-api';
import {
  adminSettings,
  createAdminServer,
  createLog,
  createMetrics,
  processSettings,
  readAll,
  readEnv,
  readKeySetFile,
  runMain,
  setting,
  startAll,
  stopAll,
  systemClock,
} from '@taskmesh/service';
import { createSubgraphServer } from '@taskmesh/subgraph';
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { z } from 'zod';
import { readBackupConfig } from './config.ts';
import { createBackup } from './create-backup.ts';

const schema = z.object({
  ...processSettings,
  HOST: setting.text().default('127.0.0.1'),
  PORT: setting.port(),
  ADMIN_HOST: adminSettings.ADMIN_HOST,
  ADMIN_PORT: setting.port(),
  IDENTITY_PUBLIC_KEYS_FILE: setting.text(),
  IDENTITY_KEY_FILE: setting.text(),
  TASKS_URL: setting.url('http:', 'https:'),
  AUTH_URL: setting.url('http:', 'https:'),
});

/** Adopting a large store takes a while. */
const CALL_TIMEOUT_MS = 10 * 60_000;

await runMain(async () => {
  const { config, own, keys } = readAll({
    config: () => readBackupConfig(process.env),
    own: () => readEnv(schema, process.env),
    keys: () => readKeySetFile(process.env, 'IDENTITY_PUBLIC_KEYS_FILE'),
  });
  const log = createLog({ service: 'backup', level: own.LOG_LEVEL });
  const metrics = createMetrics({ service: 'backup' });
  const clock = systemClock;
  const verifier = createIdentityVerifier({ audience: 'backup', keys, clock });

  const key = JSON.parse(readFileSync(own.IDENTITY_KEY_FILE, 'utf8'));
  const signer = createIdentitySigner({ issuer: 'backup', key, clock });
  const client = (pool: Pool) => ({ pool, signer, caller: 'backup', timeoutMs: CALL_TIMEOUT_MS });
  const pools = { tasks: new Pool(own.TASKS_URL), auth: new Pool(own.AUTH_URL) };

  const backup = await createBackup(config, {
    clock,
    owners: {
      tasks: createInternalClient(tasksRestore, client(pools.tasks)),
      auth: createInternalClient(authRestore, client(pools.auth)),
    },
    log,
    metrics,
  });
  const server = createSubgraphServer({
    subgraph: backup.subgraph,
    host: own.HOST,
    port: own.PORT,
    authenticate: async (authorization) => verifier.verify(authorization?.replace(/^Bearer /, '') ?? ''),
    routes: (app) =>
      serveBackupWork(app, {
        work: backup.work,
        verifier,
        onDefect: (error) => log.error({ err: error }, 'work for an operator failed'),
      }),
    log,
  });
  const admin = createAdminServer({
    host: own.ADMIN_HOST,
    port: own.ADMIN_PORT,
    metrics,
    ready: () => backup.ready(),
    log,
  });
  const connections = {
    start: async () => undefined,
    stop: async () => void (await Promise.all(Object.values(pools).map((pool) => pool.close()))),
  };
  const services = [connections, backup, server, admin];
  return { service: { start: () => startAll(services), stop: () => stopAll(services) }, log };
});
