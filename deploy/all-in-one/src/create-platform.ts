import { createAuth } from '@taskmesh/auth';
import { createBackup } from '@taskmesh/backup';
import { connectInProcess, createGateway } from '@taskmesh/gateway';
import { accountsInternal, authRestore, callInProcess, tasksRestore } from '@taskmesh/internal-api';
import type { KeyValue } from '@taskmesh/key-value';
import { traceEventLog, type EventLog } from '@taskmesh/messaging';
import {
  createAdminServer,
  startAll,
  stopAll,
  type Clock,
  type Log,
  type Service,
  type Telemetry,
} from '@taskmesh/service';
import { createTasks } from '@taskmesh/tasks';
import type { Registry } from 'prom-client';
import type { PlatformConfig } from './config.ts';

export interface PlatformDeps {
  clock: Clock;
  logOf: (service: string) => Log;
  metrics: Registry;
  keyValue: KeyValue;
  eventLog: EventLog;
  /** The caller stops it. */
  telemetry: Telemetry;
}

/** The four services in one process: the same code as in a cluster, with function calls instead of HTTP. */
export type Platform = Service & {
  address(): string;
};

export async function createPlatform(config: PlatformConfig, deps: PlatformDeps): Promise<Platform> {
  const named = (service: string) => ({ ...deps, log: deps.logOf(service) });
  const auth = await createAuth(config.auth, {
    ...named('auth'),
    eventLog: traceEventLog(deps.eventLog, deps.telemetry.tracing('auth')),
  });
  const tasks = await createTasks(config.tasks, {
    ...named('tasks'),
    eventLog: traceEventLog(deps.eventLog, deps.telemetry.tracing('tasks')),
    accounts: callInProcess(accountsInternal, auth.accounts),
  });
  const owners = {
    auth: callInProcess(authRestore, auth.restore),
    tasks: callInProcess(tasksRestore, tasks.restore),
  };
  const backup = await createBackup(config.backup, { ...named('backup'), owners });
  const connections = connectInProcess({ auth, tasks, backup });
  const gateway = await createGateway(config.gateway, {
    ...named('gateway'),
    connections,
    tracing: deps.telemetry.tracing('gateway'),
  });
  const { adminHost, adminPort, secrets } = config.gateway;
  const admin = createAdminServer({
    ...named('admin'),
    host: adminHost,
    port: adminPort,
    ready: () => gateway.ready(),
    operations: { routes: tasks.adminRoutes, token: secrets.adminToken, limiter: deps.keyValue.limiter },
  });

  // As soon as it starts, tasks asks auth which accounts were deleted.
  const accounts: Service = { start: () => startAll([auth, tasks]), stop: () => stopAll([auth, tasks]) };
  const stores = together([accounts, backup]);
  const closing: Service = { start: async () => {}, stop: () => connections.close() };
  const parts = [stores, closing, gateway, admin];
  return {
    start: () => startAll(parts),
    stop: () => stopAll(parts),
    address: () => gateway.address(),
  };
}

function together(services: Service[]): Service {
  const all = async (step: (service: Service) => Promise<void>) => {
    const outcomes = await Promise.allSettled(services.map(step));
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure) throw failure.reason;
  };
  return { start: () => all((service) => service.start()), stop: () => all((service) => service.stop()) };
}
