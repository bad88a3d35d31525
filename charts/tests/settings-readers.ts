import { readAuthConfig } from '@taskmesh/auth';
import { readBackupConfig } from '@taskmesh/backup';
import { readGatewayConfig } from '@taskmesh/gateway';
import { ConfigError, type Env } from '@taskmesh/service';
import { readTasksConfig } from '@taskmesh/tasks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHARTS } from '../tools/generated.ts';

type Groups = Record<string, { settings?: Record<string, unknown> }>;

const READERS: Record<string, (env: Env) => unknown> = {
  gateway: (env) => readGatewayConfig({ BACKUP_TOKEN: 'secret', ...env }),
  auth: readAuthConfig,
  tasks: readTasksConfig,
  backup: readBackupConfig,
};
/** What the chart takes out of secrets. */
const SECRETS = Object.fromEntries(
  ['POSTGRES_URL', 'TASKS_ADMIN_URL', 'AUTH_ADMIN_URL'].map((name) => [name, 'postgres://server/database']),
);

const { settings = {}, ...groups } = parse(readFileSync(join(CHARTS, 'taskmesh/values.yaml'), 'utf8')) as Groups & {
  settings?: Record<string, unknown>;
};
const common = Object.keys(settings);
const ownOf = (service: string) => Object.keys(groups[service]?.settings ?? {});
const SETTINGS = new Set([...common, ...Object.keys(READERS).flatMap(ownOf)]);

/** Why the services would not start with these settings of the chart; others in `env` are left aside. */
export function findRefusals(env: Env, services = Object.keys(READERS)): string[] {
  const set = Object.fromEntries(Object.entries(env).filter(([name]) => SETTINGS.has(name)));
  return services.flatMap((service) => {
    try {
      READERS[service]?.({ ...SECRETS, ...set });
      return [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map((problem) => `${service}: ${problem}`);
    }
  });
}
