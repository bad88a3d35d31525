import { createIdentityVerifier, type KeySet } from '@taskmesh/identity';
import {
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
} from '@taskmesh/service';
import { createSubgraphServer } from '@taskmesh/subgraph';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readBackupConfig } from './config.ts';
import { createBackup } from './create-backup.ts';

const schema = z.object({
  ...processSettings,
  HOST: setting.text().default('127.0.0.1'),
  PORT: setting.port(),
  ADMIN_PORT: setting.port(),
  IDENTITY_PUBLIC_KEYS_FILE: setting.text(),
});

await runMain(async () => {
  const { config, own } = readAll({
    config: () => readBackupConfig(process.env),
    own: () => readEnv(schema, process.env),
  });
  const log = createLog({ service: 'backup', level: own.LOG_LEVEL });
  const metrics = createMetrics({ service: 'backup' });
  const clock = systemClock;
  const keys = JSON.parse(readFileSync(own.IDENTITY_PUBLIC_KEYS_FILE, 'utf8')) as KeySet; // checked key by key on import
  const verifier = createIdentityVerifier({ audience: 'backup', keys, clock });

  const backup = await createBackup(config, { clock, log });
  const server = createSubgraphServer({
    subgraph: backup.subgraph,
    host: own.HOST,
    port: own.PORT,
    authenticate: async (authorization) => verifier.verify(authorization?.replace(/^Bearer /, '') ?? ''),
    log,
  });
  const admin = createAdminServer({ host: own.HOST, port: own.ADMIN_PORT, metrics, ready: () => backup.ready(), log });
  const services = [backup, server, admin];
  return { service: { start: () => startAll(services), stop: () => stopAll(services) }, log };
});
