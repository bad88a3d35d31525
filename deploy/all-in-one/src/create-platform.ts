import { createAuth } from '@taskmesh/auth';
import { createBackup } from '@taskmesh/backup';
import { connectInProcess, createGateway } from '@taskmesh/gateway';
import { accountsInternal, authRestore, callInProcess, tasksRestore } from '@taskmesh/internal-api';
import type { KeyValue } from '@taskmesh/key-value';
import type { EventLog } from '@taskmesh/event-log';
import { traceEventLog } from '@taskmesh/service/event-log';
import { closeOnStop, inOrder, settleAll, type Clock, type Log, type Service, type Telemetry } from '@taskmesh/service';
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
export async function createPlatform(config: PlatformConfig, deps: PlatformDeps) {
  const depsOf = (service: string) => ({ ...deps, log: deps.logOf(service) });
  const auth = await createAuth(config.auth, depsOf('auth'));
  const tasks = await createTasks(config.tasks, {
    ...depsOf('tasks'),
    eventLog: traceEventLog(deps.eventLog, deps.telemetry.tracing('tasks')),
    accounts: callInProcess(accountsInternal, auth.accounts),
  });
  const owners = {
    auth: callInProcess(authRestore, auth.restore),
    tasks: callInProcess(tasksRestore, tasks.restore),
  };
  const backup = await createBackup(config.backup, { ...depsOf('backup'), owners });
  const connections = connectInProcess({ auth, tasks, backup });
  const gateway = await createGateway(config.gateway, {
    ...depsOf('gateway'),
    connections,
    tracing: deps.telemetry.tracing('gateway'),
  });

  // In this order, because tasks reads deleted accounts from auth as soon as it starts.
  const stores = inParallel([inOrder([auth, tasks]), backup]);
  const parts = inOrder([stores, closeOnStop(() => connections.close()), gateway]);
  return { ...parts, address: () => gateway.address(), ready: () => gateway.ready() };
}

function inParallel(services: Service[]): Service {
  return {
    start: () => settleAll(services.map((service) => service.start())),
    stop: () => settleAll(services.map((service) => service.stop())),
  };
}
