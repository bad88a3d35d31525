import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { STATUS_PART_MS, type ServiceStatus, type StatusOf } from '@taskmesh/internal-api';
import { askInTime, readVersion } from '@taskmesh/service';
import type { GatewayContext } from '../context.ts';
import type { NamedStatus, PlatformStatus } from './platform-status.ts';
import { problemsOf } from './problems.ts';
import { readRealtimeFigures } from './realtime-figures.ts';

export type StatusContext = Pick<GatewayContext, 'clock' | 'connections' | 'eventLog' | 'keyValue' | 'log' | 'metrics'>;

/** Answers within about a second, whatever is down. */
export function createPlatformStatus(context: StatusContext): () => Promise<PlatformStatus> {
  const { clock, connections, eventLog, keyValue, log, metrics } = context;
  const gateway = { name: 'gateway', isUp: true, version: readVersion(), store: null } as const;
  const startedAt = new Date(clock.now()).toISOString();
  const askEventLog = askInTime(STATUS_PART_MS, () => eventLog.isUp(TASK_CHANGES_TOPIC));

  const ask = async <Status>(service: string, { status }: StatusOf<Status>): Promise<Status | undefined> => {
    try {
      return await status();
    } catch (error) {
      log.debug({ err: error, service }, 'no status of a service');
      return undefined;
    }
  };

  return async () => {
    const [auth, tasks, backup, isUpForGateway = false, realtime] = await Promise.all([
      ask('auth', connections.status.auth),
      ask('tasks', connections.status.tasks),
      ask('backup', connections.status.backup),
      askEventLog(),
      readRealtimeFigures(metrics),
    ]);
    const seen: Omit<PlatformStatus, 'problems'> = {
      at: new Date(clock.now()).toISOString(),
      services: [{ ...gateway, startedAt }, named('auth', auth), named('tasks', tasks), named('backup', backup)],
      feed: tasks?.feed ?? null,
      eventLog: {
        system: eventLog.system ?? 'memory',
        isUpForTasks: tasks?.eventLog.isUp ?? null,
        isUpForGateway,
      },
      cache: { system: keyValue.system ?? 'memory', isUp: keyValue.isUp() },
      realtime,
      backups: backup?.backups ?? null,
    };
    return { ...seen, problems: problemsOf(seen, { auth, tasks }, connections.aheadSeconds) };
  };
}

function named(name: NamedStatus['name'], status: ServiceStatus | undefined): NamedStatus {
  const { version, startedAt, store } = status ?? { version: null, startedAt: null, store: null };
  return { name, isUp: status !== undefined, version, startedAt, store };
}
