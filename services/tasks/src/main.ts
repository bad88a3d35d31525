import {
  createIdentitySigner,
  createIdentityVerifier,
  GATEWAY_ROLES,
  readKeySetFile,
  readSigningKeyFile,
} from '@taskmesh/identity';
import {
  accountsInternal,
  createInternalClient,
  createServicePool,
  createSubgraphServer,
  deadLettersInternal,
  internalRoutes,
  tasksInternal,
  tasksOperators,
  tasksRestore,
} from '@taskmesh/internal-api';
import { openEventLog, requireKafkaSettings, traceEventLog } from '@taskmesh/service/event-log';
import { bearerToken, closeOnStop, readAll, readEnv, runService, setting } from '@taskmesh/service';
import { z } from 'zod';
import { readTasksConfig } from './config.ts';
import { createTasks } from './create-tasks.ts';

const neighbours = z.object({
  AUTH_URL: setting.url('http:', 'https:'),
});

await runService(process.env, {
  name: 'tasks',
  port: 4002,
  settings: (env) =>
    readAll({
      config: () => readTasksConfig(env),
      urls: () => readEnv(neighbours, env),
      kafka: () => requireKafkaSettings(env),
      keys: () => readKeySetFile(env, 'IDENTITY_PUBLIC_KEYS_FILE'),
      key: () => readSigningKeyFile(env, 'IDENTITY_KEY_FILE'),
    }),

  async open({ config, urls, kafka, keys, key }, { host, port, clock, log, metrics, tracing }) {
    const eventLog = traceEventLog(openEventLog(kafka, { clientId: 'taskmesh-tasks', log, metrics }), tracing);
    const signer = createIdentitySigner({ issuer: 'tasks', key, clock });
    const pool = createServicePool(urls.AUTH_URL);
    const accounts = createInternalClient(accountsInternal, { pool, signer });
    const tasks = await createTasks(config, { clock, log, eventLog, accounts, metrics });
    const callers = { gateway: GATEWAY_ROLES, backup: ['service'] } as const;
    const verifier = createIdentityVerifier({ audience: 'tasks', keys, callers, clock });
    const server = createSubgraphServer({
      subgraph: tasks.subgraph,
      authenticate: (authorization) => verifier.verify(bearerToken(authorization)),
      routes: [
        internalRoutes(tasksInternal, tasks.internal),
        internalRoutes(tasksRestore, tasks.restore),
        internalRoutes(tasksOperators, tasks.operators),
        internalRoutes(deadLettersInternal, tasks.deadLetters),
      ],
      ...{ host, port, tracing, log },
    });
    const connections = [closeOnStop(() => eventLog.close()), closeOnStop(() => pool.destroy())];
    return { parts: [...connections, tasks, server], ready: tasks.ready };
  },
});
