import { createIdentityVerifier, GATEWAY_ROLES, readKeySetFile } from '@taskmesh/identity';
import {
  accountsInternal,
  authInternal,
  authOperators,
  authRestore,
  authSignIn,
  createSubgraphServer,
  internalRoutes,
} from '@taskmesh/internal-api';
import { openKeyValue, readRedisSettings } from '@taskmesh/key-value';
import { closeOnStop, readAll, runService } from '@taskmesh/service';
import { readAuthConfig, findMailProblems } from './config.ts';
import { createAuth } from './create-auth.ts';
import { createIdentityStrategy } from './passport.ts';

await runService(process.env, {
  name: 'auth',
  port: 4001,
  settings: (env) =>
    readAll({
      config: () => readAuthConfig(env),
      redis: () => readRedisSettings(env),
      keys: () => readKeySetFile(env, 'IDENTITY_PUBLIC_KEYS_FILE'),
      mailProblems: () => findMailProblems(env),
    }),

  async open({ config, redis, keys, mailProblems }, { host, port, clock, log, metrics, tracing }) {
    for (const problem of mailProblems) log.warn(problem);
    const keyValue = openKeyValue(redis, log);
    const auth = await createAuth(config, { clock, log, keyValue, metrics });
    const callers = { gateway: GATEWAY_ROLES, backup: ['service'], tasks: ['service'] } as const;
    const server = createSubgraphServer({
      subgraph: auth.subgraph,
      authenticate: createIdentityStrategy(createIdentityVerifier({ audience: 'auth', keys, callers, clock })),
      routes: [
        internalRoutes(authInternal, auth.internal),
        internalRoutes(accountsInternal, auth.accounts),
        internalRoutes(authSignIn, auth.signIn),
        internalRoutes(authRestore, auth.restore),
        internalRoutes(authOperators, auth.operators),
      ],
      ...{ host, port, tracing, log },
    });
    return { parts: [closeOnStop(() => keyValue.close()), auth, server], ready: auth.ready };
  },
});
