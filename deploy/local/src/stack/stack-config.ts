import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { adminSettings, readEnv, setting, type Env } from '@taskmesh/service';
import { z } from 'zod';
import { UsageError } from '../command/run-command.ts';
import { errorMessage } from '../plain-error.ts';
import { databasePrefix } from './inner-services.ts';
import type { StackOptions } from './stack.ts';

const GATEWAYS_MAX = 16;
/** Leaves room for the administrators' ports above it. */
const PORT_MAX = 55_000;

/** @throws UsageError */
export function readStackArguments(args: string[]): { gateways: number; restart: boolean; observe: boolean } {
  let values: { gateways: string; 'no-restart': boolean; observe: boolean };
  try {
    const options = {
      gateways: { type: 'string', default: '1' },
      'no-restart': { type: 'boolean', default: false },
      observe: { type: 'boolean', default: false },
    } as const;
    ({ values } = parseArgs({ args, options }));
  } catch (cause) {
    throw new UsageError(errorMessage(cause), { cause });
  }
  const gateways = Number(values.gateways);
  if (!Number.isInteger(gateways) || gateways < 1 || gateways > GATEWAYS_MAX)
    throw new UsageError(`--gateways must be a whole number from 1 to ${GATEWAYS_MAX} (is: ${values.gateways}).`);
  return { gateways, restart: !values['no-restart'], observe: values.observe };
}

/** @throws ConfigError */
export function readStackSettings(
  env: Env,
): Pick<StackOptions, 'dataDir' | 'port' | 'adminPort' | 'host' | 'adminHost' | 'env'> {
  const schema = z.object({
    PORT: setting.int(1, PORT_MAX).default(4000),
    ADMIN_HOST: adminSettings.ADMIN_HOST,
    ADMIN_PORT: setting.int(1, 65_535).optional(),
    HOST: setting.text().default('127.0.0.1'),
    DATA_DIR: setting.text().default('.data/stack'),
    DATABASE_PREFIX: databasePrefix(),
  });
  const { PORT, ADMIN_HOST, ADMIN_PORT, HOST, DATA_DIR } = readEnv(schema, env);
  return {
    dataDir: resolve(DATA_DIR),
    port: PORT,
    ...(ADMIN_PORT ? { adminPort: ADMIN_PORT } : {}),
    host: HOST,
    adminHost: ADMIN_HOST,
    env,
  };
}
