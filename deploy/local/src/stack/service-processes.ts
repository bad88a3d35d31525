import { runInDataDir } from '@taskmesh/local-servers';
import { withoutEmpty, type Env } from '@taskmesh/service';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { databaseUrl } from '../databases.ts';
import type { ServerName } from '../provide-servers.ts';
import { INNER_SERVICES, serviceDatabase, type InnerService } from './inner-services.ts';
import type { KeyFiles } from './keys.ts';
import { localUrl, type PortPair, type StackPorts } from './ports.ts';
import type { StackLife, StackOptions } from './stack.ts';

/** A process of one of our services: its addresses, and the environment that configures them. */
type ServiceProcess = ReturnType<typeof serviceProcesses>[number];

/** `env` has the user's settings. Every process gets them, except those that the plan replaces. */
export interface StackPlan extends Pick<StackOptions, 'env' | 'dataDir' | 'servicesDir'> {
  urls: Record<ServerName, string>;
  keys: KeyFiles;
  /** The address on which the gateways listen; `adminHost` is the one of every service for administrators. */
  host: string;
  adminHost: string;
  ports: StackPorts;
}

const LOOPBACK = '127.0.0.1';
const SERVICES = fileURLToPath(new URL('../../../../services/', import.meta.url));

/** Lists the processes of a stack: the inner services, then the gateways. */
export function serviceProcesses(plan: StackPlan) {
  const { dataDir, urls, keys, host, adminHost, servicesDir = SERVICES } = plan;
  const env = withoutEmpty(plan.env);
  const { gateways, inner } = plan.ports;
  const url = (service: InnerService) => `http://${LOOPBACK}:${inner[service].port}`;
  const database = (service: InnerService) => databaseUrl(urls.postgres, serviceDatabase(service, env.DATABASE_PREFIX));
  /** Each service reads only the settings that it needs. */
  const common = {
    ...{ ...env, DATA_DIR: dataDir, IDENTITY_PUBLIC_KEYS_FILE: keys.publicKeys },
    ...{ REDIS_URL: urls.redis, KAFKA_BROKERS: urls.kafka },
    ...Object.fromEntries(INNER_SERVICES.map((service) => [`${service.toUpperCase()}_URL`, url(service)])),
    PUBLIC_URL: env.PUBLIC_URL ?? localUrl(host, gateways[0]?.port ?? 0),
  };
  const settings: Record<InnerService, Env> = {
    auth: { ACCESS_TOKEN_KEYS_FILE: env.ACCESS_TOKEN_KEYS_FILE ?? keys.accessTokens },
    tasks: { IDENTITY_KEY_FILE: keys.signers.tasks },
    backup: {
      TASKS_ADMIN_URL: env.TASKS_ADMIN_URL ?? database('tasks'),
      AUTH_ADMIN_URL: env.AUTH_ADMIN_URL ?? database('auth'),
      BACKUPS_DIR: env.BACKUPS_DIR ?? join(dataDir, 'backups'),
      IDENTITY_KEY_FILE: keys.signers.backup,
    },
  };
  const gatewaySettings: Env = { IDENTITY_KEY_FILE: keys.signers.gateway };

  const define = (name: string, own: Env, { port, adminPort }: PortPair, listenHost = LOOPBACK) => ({
    /** `auth`, `tasks`, …, `gateway-1`, `gateway-2`, … */
    name,
    main: join(servicesDir, name.replace(/-\d+$/, ''), 'src', 'main.ts'),
    url: localUrl(listenHost, port),
    adminUrl: localUrl(adminHost, adminPort),
    env: {
      ...{ ...common, ...own, HOST: listenHost, PORT: String(port) },
      ...{ ADMIN_HOST: adminHost, ADMIN_PORT: String(adminPort) },
    },
  });
  return [
    ...INNER_SERVICES.map((name) => define(name, { POSTGRES_URL: database(name), ...settings[name] }, inner[name])),
    ...gateways.map((ports, index) => define(`gateway-${index + 1}`, gatewaySettings, ports, host)),
  ];
}

/** Runs a service as a process of its own; resolves when it is ready according to its admin port. */
export async function startService(
  { name, main, env, url, adminUrl }: ServiceProcess,
  options: { dataDir: string; log: (line: string) => void; signal: AbortSignal },
): Promise<StackLife> {
  const prepare = async () => ({ command: process.execPath, args: [main], env });
  const ready = () => serviceReady(adminUrl);
  const run = { name, dataDir: join(options.dataDir, name), prepare, ready };
  return { ...(await runInDataDir(run, options)), url, adminUrl };
}

/** Whether a service reports at its admin port that it is ready. */
export async function serviceReady(adminUrl: string): Promise<boolean> {
  const response = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(2_000) });
  await response.body?.cancel();
  return response.ok;
}
