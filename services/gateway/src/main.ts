import { createIdentitySigner, createSigningKey } from '@taskmesh/identity';
import { createMemoryKeyValue, createRedisKeyValue } from '@taskmesh/key-value';
import { createKafkaEventLog, createMemoryEventLog } from '@taskmesh/event-log';
import { measureEventLog } from '@taskmesh/service/event-log';
import {
  closeOnStop,
  createAdminServer,
  createLog,
  createMetrics,
  inOrder,
  openTelemetry,
  readAll,
  readTelemetry,
  runMain,
  systemClock,
  type Clock,
  type Log,
} from '@taskmesh/service';
import { readFile } from 'node:fs/promises';
import type { JWK } from 'jose';
import { readGatewayConfig, readGatewayProcess, type GatewayProcess } from './config.ts';
import { connectHttp } from './connections/over-http.ts';
import { createGateway } from './create-gateway.ts';

await runMain(async () => {
  const { config, neighbours, traces } = readAll({
    config: () => readGatewayConfig(process.env),
    neighbours: () => readGatewayProcess(process.env),
    traces: () => readTelemetry(process.env),
  });
  const log = createLog({ service: 'gateway', level: config.logLevel });
  const clock = systemClock;
  const metrics = createMetrics({ service: 'gateway' });
  const telemetry = await openTelemetry(traces, log, metrics);
  const keyValue = neighbours.redis ? createRedisKeyValue({ ...neighbours.redis, log }) : createMemoryKeyValue({ log });
  const plainLog = neighbours.kafka
    ? createKafkaEventLog({ ...neighbours.kafka, clientId: 'gateway', log })
    : createMemoryEventLog({ log });
  const eventLog = measureEventLog(plainLog, metrics);
  const connections = connectHttp({
    ...{ urls: neighbours.urls, signer: await signer(neighbours, clock, log), clock, log },
  });
  const tracing = telemetry.tracing('gateway');
  const gateway = await createGateway(config, { clock, log, keyValue, eventLog, connections, metrics, tracing });
  const admin = createAdminServer({
    host: config.adminHost,
    port: config.adminPort,
    metrics,
    ready: () => gateway.ready(),
    log,
  });

  // Without a file there is nothing to reload, so the signal keeps its default meaning.
  if (config.supergraphFile !== undefined) process.on('SIGHUP', () => void gateway.reload());

  const closing = [keyValue, eventLog, connections].map((connection) => closeOnStop(() => connection.close()));
  return { service: inOrder([telemetry, ...closing, admin, gateway]), log };
});

/** Only a gateway with a foreign graph runs without a key: it has no service of ours to sign tokens for. */
async function signer({ identityKeyFile }: GatewayProcess, clock: Clock, log: Log) {
  if (identityKeyFile === undefined) log.info('no identity key: a foreign graph is served');
  const key =
    identityKeyFile === undefined
      ? await createSigningKey('gateway')
      : (JSON.parse(await readFile(identityKeyFile, 'utf8')) as JWK); // checked when it signs
  return createIdentitySigner({ issuer: 'gateway', key, clock });
}
