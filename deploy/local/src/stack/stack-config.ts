import { resolve } from 'node:path';
import { readEnv, setting, type Env } from '@taskmesh/service';
import { z } from 'zod';
import { number, parseOptions } from '../command.ts';
import { databasePrefix } from './inner-services.ts';

const MAX_GATEWAYS = 16;
/** Leaves room above it for the administrators' ports. */
const MAX_PORT = 55_000;

/** @throws UsageError */
export function readStackArguments(args: string[]) {
  const values = parseOptions(args, { texts: ['gateways'], flags: ['no-restart'] });
  return {
    gateways: number('--gateways', values.gateways ?? '1', { min: 1, max: MAX_GATEWAYS, isWhole: true }),
    restart: !values['no-restart'],
  };
}

/** @throws ConfigError */
export function readStackSettings(env: Env) {
  const schema = z.object({
    PORT: setting.int(1, MAX_PORT).default(4000),
    ADMIN_HOST: setting.host(),
    ADMIN_PORT: setting.int(1, 65_535).optional(),
    HOST: setting.text().default('127.0.0.1'),
    DATA_DIR: setting.text().default('.data/stack'),
    DATABASE_PREFIX: databasePrefix(),
  });
  const { PORT: port, ADMIN_PORT: adminPort, HOST: host, ADMIN_HOST: adminHost, DATA_DIR } = readEnv(schema, env);
  return { dataDir: resolve(DATA_DIR), port, adminPort, host, adminHost, env };
}
