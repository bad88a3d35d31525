import {
  createIdentitySigner,
  createIdentityVerifier,
  GATEWAY_ROLES,
  readKeySetFile,
  readSigningKeyFile,
} from '@taskmesh/identity';
import {
  authRestore,
  backupOperators,
  backupWorkRoutes,
  createInternalClient,
  createServicePool,
  createSubgraphServer,
  internalRoutes,
  tasksRestore,
} from '@taskmesh/internal-api';
import { bearerToken, closeOnStop, readAll, readEnv, runService, setting } from '@taskmesh/service';
import { z } from 'zod';
import { readBackupConfig } from './config.ts';
import { createBackup } from './create-backup.ts';

const neighbours = z.object({
  TASKS_URL: setting.url('http:', 'https:'),
  AUTH_URL: setting.url('http:', 'https:'),
});

await runService(process.env, {
  name: 'backup',
  port: 4003,
  settings: (env) =>
    readAll({
      config: () => readBackupConfig(env),
      urls: () => readEnv(neighbours, env),
      keys: () => readKeySetFile(env, 'IDENTITY_PUBLIC_KEYS_FILE'),
      key: () => readSigningKeyFile(env, 'IDENTITY_KEY_FILE'),
    }),

  async open({ config, urls, keys, key }, { host, port, clock, log, metrics, tracing }) {
    const signer = createIdentitySigner({ issuer: 'backup', key, clock });
    const pools = { tasks: createServicePool(urls.TASKS_URL), auth: createServicePool(urls.AUTH_URL) };
    const owners = {
      tasks: createInternalClient(tasksRestore, { pool: pools.tasks, signer }),
      auth: createInternalClient(authRestore, { pool: pools.auth, signer }),
    };
    const backup = await createBackup(config, { clock, owners, log, metrics });
    const callers = { gateway: GATEWAY_ROLES };
    const verifier = createIdentityVerifier({ audience: 'backup', keys, callers, clock });
    const server = createSubgraphServer({
      subgraph: backup.subgraph,
      authenticate: (authorization) => verifier.verify(bearerToken(authorization)),
      routes: [backupWorkRoutes(backup.work), internalRoutes(backupOperators, backup.operators)],
      ...{ host, port, tracing, log },
    });
    const connections = Object.values(pools).map((pool) => closeOnStop(() => pool.destroy()));
    return { parts: [...connections, backup, server], ready: backup.ready };
  },
});
