import { createIdentitySigner, createSigningKey } from '@taskmesh/identity';
import { openKeyValue } from '@taskmesh/key-value';
import { openEventLog } from '@taskmesh/service/event-log';
import { closeOnStop, readAll, runService } from '@taskmesh/service';
import { GATEWAY_PORT, readGatewayConfig, readGatewayProcess } from './config.ts';
import { connectHttp } from './connections/over-http.ts';
import { createGateway } from './create-gateway.ts';

await runService(process.env, {
  name: 'gateway',
  port: GATEWAY_PORT,
  settings: (env) => readAll({ config: () => readGatewayConfig(env), neighbours: () => readGatewayProcess(env) }),

  async open({ config, neighbours }, { clock, log, metrics, tracing }) {
    const { urls, redis, kafka, identityKey } = neighbours;
    if (!identityKey) log.info('no identity key: a foreign graph is served');
    const key = identityKey ?? (await createSigningKey('gateway'));
    const signer = createIdentitySigner({ issuer: 'gateway', key, clock });
    const keyValue = openKeyValue(redis, log);
    const eventLog = openEventLog(kafka, { clientId: 'gateway', log, metrics });
    const connections = connectHttp({ urls, signer, clock, log });
    const gateway = await createGateway(config, { clock, log, keyValue, eventLog, connections, metrics, tracing });

    // Without a file there is nothing to reload, so the signal keeps its default meaning.
    if (config.supergraphFile !== undefined) process.on('SIGHUP', () => void gateway.reload());

    const closing = [keyValue, eventLog, connections].map((connection) => closeOnStop(() => connection.close()));
    return { parts: [...closing, gateway], ready: gateway.ready };
  },
});
