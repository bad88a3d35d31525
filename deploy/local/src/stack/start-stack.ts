import { acquireLock, allOf, endRecordedProcesses, attempt, type Server, writeJson } from '@taskmesh/local-servers';
import { ensureWritableDirectory } from '@taskmesh/service';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ensureMachineToken } from '../machine-token.ts';
import { provideServers, type ProvidedServers, type RunServer } from '../provide-servers.ts';
import { ensureServiceDatabases, INNER_SERVICES } from './inner-services.ts';
import { ensureKeyFiles } from './keys.ts';
import { checkWantedPorts, choosePorts } from './ports.ts';
import { serviceProcesses, startService } from './service-processes.ts';
import type { StackLife, StackOptions, StackProcess } from './stack.ts';
import { supervise, type Supervised } from './supervise.ts';

export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Starts a process, supervises it and makes it part of the stack. */
type AddProcess = <Life extends StackLife>(
  name: string,
  start: (signal: AbortSignal, previous?: Life) => Promise<Life>,
) => Promise<Supervised<Life>>;

/**
 * Runs the platform as separate processes: PostgreSQL, Redis and Kafka (external or started here), the three inner
 * services and the gateways. Resolves when all are ready; if one fails, stops everything.
 * @throws ConfigError, PlainError; StillRunning instead of waiting for processes that do not end
 */
export async function startStack(options: StackOptions) {
  const { log, restart: revive = true, signal } = options;
  const dataDir = resolve(options.dataDir);
  ensureWritableDirectory('DATA_DIR', dataDir);
  const what = `Another stack has its data in ${dataDir}`;
  const lock = await acquireLock(join(dataDir, 'run', 'stack.lock'), what, signal);
  /** By name: `postgres`, `redis`, `kafka` (if started here), `auth`, `tasks`, …, `gateway-1`, … */
  const processes = new Map<string, StackProcess>();
  const stateFile = join(dataDir, 'stack.json');
  /** The stack also works without this file, for example when the disk is full. */
  const notify = () => attempt(() => writeJson(stateFile, stateOf(processes)));

  const add: AddProcess = async (name, start) => {
    const process = await supervise({ name, start, revive, log, signal, onChange: notify });
    processes.set(name, process);
    notify();
    return process;
  };
  /** Stops the gateways, then the services, then the servers. Each has ten seconds before it is killed. */
  const stop = async () => {
    lock.announceRelease();
    // The signal that stops us may also have reached the processes: those that have ended must not be restarted.
    for (const process of processes.values()) process.retire();
    for (const isDue of [isGateway, isInnerService, () => true])
      await Promise.all([...processes.values()].filter(({ name }) => isDue(name)).map((process) => process.stop()));
    attempt(() => rmSync(stateFile));
    lock.release();
  };
  const stillRunning = Promise.withResolvers<never>();
  const giveUp = () => {
    for (const process of processes.values()) void process.stop();
    endRecordedProcesses(dataDir).catch(stillRunning.reject); // processes that are still starting
  };

  signal?.addEventListener('abort', giveUp);
  try {
    const parts = await Promise.race([startParts({ ...options, dataDir }, add), stillRunning.promise]);
    return { ...parts, processes, stop };
  } catch (error) {
    await Promise.race([stop(), stillRunning.promise]);
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

async function startParts(options: StackOptions, add: AddProcess) {
  const { dataDir, host = '127.0.0.1', adminHost = '127.0.0.1', env, log, signal, servicesDir } = options;
  await endRecordedProcesses(dataDir, log);
  await checkWantedPorts(options);
  signal?.throwIfAborted();

  const urls = await startServers({ env, dataDir, log }, add);
  signal?.throwIfAborted();

  const keys = await ensureKeyFiles(join(dataDir, 'keys'));
  const machineToken = env.BACKUP_TOKEN ? undefined : ensureMachineToken(join(dataDir, 'keys'));
  const ports = await choosePorts(options);
  const services = serviceProcesses({ env, dataDir, urls, keys, host, adminHost, ports, servicesDir });
  const starts = services.map(async (service) => {
    await add(service.name, (startSignal) => startService(service, { dataDir, log, signal: startSignal }));
    log(`${service.name} is ready.`);
  });
  await allOf(starts);
  signal?.throwIfAborted();
  return {
    /** The gateways' URLs, for clients. */
    urls: services.filter(({ name }) => isGateway(name)).map(({ url }) => url),
    servers: urls,
    /** Undefined if there is a BACKUP_TOKEN. */
    machineToken,
  };
}

async function startServers(
  options: Pick<StackOptions, 'env' | 'dataDir' | 'log'>,
  add: AddProcess,
): Promise<ProvidedServers['urls']> {
  const run: RunServer = async (name, start) => {
    // On the same port after each restart, because the services have its URL.
    const server = await add<Server>(name, (signal, previous) => start({ signal, port: previous?.port }));
    return { url: server.current.url, stop: server.stop };
  };
  const { urls } = await provideServers({ ...options, run });
  await ensureServiceDatabases(urls.postgres, options.env, options.log);
  return urls;
}

export type StackState = ReturnType<typeof stateOf>;

/** The content of `stack.json` in the data directory, which tools can read at any time while the stack runs. */
function stateOf(processes: ReadonlyMap<string, StackProcess>) {
  const states = [...processes.values()].map(({ name, pid, isUp, current }) => {
    const { url, adminUrl, logFile } = current;
    return { name, pid, isUp, url, adminUrl, logFile };
  });
  return { pid: process.pid, processes: states }; // `pid` is that of this process, which supervises the others
}

const isGateway = (name: string) => name.startsWith('gateway-');
const isInnerService = (name: string) => INNER_SERVICES.some((service) => service === name);
