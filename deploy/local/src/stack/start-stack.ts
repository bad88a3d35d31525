import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeError, PlainError } from '../plain-error.ts';
import type { RunningProcess } from '../processes/child-process.ts';
import { endOrphans } from '../processes/claim.ts';
import { acquireLock } from '../processes/directory-lock.ts';
import { findFreePorts, whyPortFails } from '../processes/free-port.ts';
import { ensureDatabases } from '../postgres/databases.ts';
import { provideServers, type ProvidedServers } from '../provide-servers.ts';
import { ensureKeyFiles } from './keys.ts';
import { DATABASES, INNER_SERVICES, serviceProcesses, type PortPair, type ServiceProcess } from './service-processes.ts';
import { startService } from './start-service.ts';
import { createStateFile } from './state-file.ts';
import { supervise, type Supervised } from './supervise.ts';

export interface StackOptions {
  dataDir: string;
  /** Of the first gateway; the others follow it. Default: free ones. */
  port?: number;
  /** @default '127.0.0.1' */
  host?: string;
  /** @default 1 */
  gateways?: number;
  /** For every service, besides what the stack says itself. May name servers to use instead of own ones. */
  env: Readonly<Record<string, string | undefined>>;
  /** For people: a line of progress. */
  log: (line: string) => void;
  /** Whether processes that die are started again. @default true */
  restart?: boolean;
}

/** One process of the stack; `kill` and `restart` work on whatever its present life is. */
export interface StackProcess extends Supervised {
  /** A URL, or Kafka's `host:port`. */
  address: string;
  adminUrl?: string;
}

export interface Stack {
  /** The gateways, for clients. */
  urls: string[];
  servers: ProvidedServers['urls'];
  /** `postgres`, `redis`, `kafka` (when started here), `auth`, `tasks`, `backup`, `gateway-1`, … */
  processes: Map<string, StackProcess>;
  /** Gateways first, then services, then servers; each has ten seconds, then it is killed. */
  stop(): Promise<void>;
  /** Kills everything at once. */
  kill(): void;
}

/** An administrators' port lies this far above the public one. */
const ADMIN_PORT_DISTANCE = 10_000;

/**
 * Runs the platform as separate processes: PostgreSQL, Redis and Kafka (given or started), the three inner services and
 * the gateways. Resolves when all are ready; when one fails, everything is stopped again.
 * @throws PlainError
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dataDir = resolve(options.dataDir);
  const lock = await acquireLock(join(dataDir, 'run', 'stack.lock'), `Another stack runs with its data in ${dataDir}`);
  const processes = new Map<string, StackProcess>();
  const stop = async () => {
    lock.announceRelease();
    await stopInOrder(processes);
    rmSync(join(dataDir, 'stack.json'), { force: true });
    lock.release();
  };
  try {
    return { ...(await startParts({ ...options, dataDir }, processes)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(options: StackOptions, processes: Stack['processes']): Promise<Omit<Stack, 'stop'>> {
  const { dataDir, host = '127.0.0.1', env, log, restart: revive = true } = options;
  const stateFile = createStateFile(join(dataDir, 'stack.json'), processes);
  const register = (process: Supervised, address: string, adminUrl?: string) => {
    // Not spread: the getters of `process` tell of its present life.
    processes.set(process.name, Object.assign(Object.create(process) as Supervised, { address, ...(adminUrl ? { adminUrl } : {}) }));
    stateFile.write();
  };
  await endOrphans(dataDir, log);
  const gateways = await gatewayPorts(options, host);

  const { urls: servers } = await provideServers({
    env,
    dataDir,
    log,
    async run(name, start) {
      let port: number | undefined;
      const process = await supervise({
        name,
        log,
        revive,
        onChange: stateFile.write,
        // The same port in every life: the services know it.
        start: async () => {
          const server = await start(port);
          port = server.port;
          return server;
        },
      });
      register(process, process.current.url);
      return { url: process.current.url, stop: process.stop };
    },
  });
  await ensureDatabases(servers.postgres, Object.values(DATABASES));

  const keys = await ensureKeyFiles(join(dataDir, 'keys'));
  const inner = await innerPorts();
  const services = serviceProcesses({ env, dataDir, urls: servers, keys, host, gateways, inner });
  await startServices(services, async (service) => {
    const start = (): Promise<RunningProcess> => startService(service, { dataDir, log });
    register(await supervise({ name: service.name, start, log, revive, onChange: stateFile.write }), service.url, service.adminUrl);
    log(`${service.name} is ready.`);
  });
  const urls = services.filter(({ name }) => name.startsWith('gateway-')).map(({ url }) => url);
  return { urls, servers, processes, kill: () => processes.forEach((process) => process.kill('SIGKILL')) };
}

/** All at once: none needs another one to start. */
async function startServices(services: ServiceProcess[], start: (service: ServiceProcess) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(services.map(start));
  const problems = results.flatMap((result) => (result.status === 'rejected' ? [describeError(result.reason)] : []));
  if (problems.length > 0) throw new PlainError(problems.join('\n'));
}

async function gatewayPorts(options: StackOptions, host: string): Promise<PortPair[]> {
  const count = options.gateways ?? 1;
  const first = options.port;
  if (!first) {
    const ports = await findFreePorts(2 * count);
    return Array.from({ length: count }, (_, index) => ({ port: ports[2 * index] ?? 0, adminPort: ports[2 * index + 1] ?? 0 }));
  }
  const pairs = Array.from({ length: count }, (_, index) => ({ port: first + index, adminPort: first + index + ADMIN_PORT_DISTANCE }));
  const problems = await Promise.all(pairs.flatMap(({ port, adminPort }) => [port, adminPort]).map((port) => portProblem(port, host)));
  const found = problems.filter((problem) => problem !== undefined);
  if (found.length > 0) throw new PlainError(`${found.join('\n')}\nSet PORT to another one.`);
  return pairs;
}

async function portProblem(port: number, host: string): Promise<string | undefined> {
  const code = await whyPortFails(port, host);
  if (code === undefined) return undefined;
  return code === 'EADDRINUSE' ? `Port ${port} is taken by another program.` : `Cannot listen on ${host}, port ${port} (${code}).`;
}

async function innerPorts(): Promise<Record<(typeof INNER_SERVICES)[number], PortPair>> {
  const ports = await findFreePorts(2 * INNER_SERVICES.length);
  const pair = (index: number): PortPair => ({ port: ports[2 * index] ?? 0, adminPort: ports[2 * index + 1] ?? 0 });
  return { auth: pair(0), tasks: pair(1), backup: pair(2) };
}

async function stopInOrder(processes: Stack['processes']): Promise<void> {
  const isGateway = (name: string) => name.startsWith('gateway-');
  const isService = (name: string) => INNER_SERVICES.some((service) => service === name);
  const ranks = [isGateway, isService, (name: string) => !isGateway(name) && !isService(name)];
  for (const isDue of ranks)
    await Promise.all([...processes.values()].filter(({ name }) => isDue(name)).map((process) => process.stop()));
}
