import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { type ServiceStatus, STATUS_PART_MS, type StatusOf, type TasksStatus } from '@taskmesh/internal-api';
import { createTimedQuery, readVersion } from '@taskmesh/service';
import type { Registry } from 'prom-client';
import type { GatewayContext } from '../context.ts';
import type { PlatformStatus } from './schemas/operators.ts';

export type StatusContext = Pick<GatewayContext, 'clock' | 'connections' | 'eventLog' | 'keyValue' | 'log' | 'metrics'>;

/** Returns a status within about a second, even if everything is down. */
export function createPlatformStatus(context: StatusContext): () => Promise<PlatformStatus> {
  const { clock, connections, eventLog, keyValue, log, metrics } = context;
  const gateway = { name: 'gateway', isUp: true, version: readVersion(), store: null } as const;
  const startedAt = new Date(clock.now()).toISOString();
  const queryEventLog = createTimedQuery(STATUS_PART_MS, () => eventLog.isUp(TASK_CHANGES_TOPIC));

  const query = async <Status>(service: string, { status }: StatusOf<Status>): Promise<Status | undefined> => {
    try {
      return await status();
    } catch (error) {
      log.debug({ err: error, service }, 'no status of a service');
      return undefined;
    }
  };

  return async () => {
    const [auth, tasks, backup, isUpForGateway = false, realtime] = await Promise.all([
      query('auth', connections.status.auth),
      query('tasks', connections.status.tasks),
      query('backup', connections.status.backup),
      queryEventLog(),
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
    const { aheadSeconds } = connections;
    return { ...seen, problems: [...problemsOf(seen, { ...tasks, aheadSeconds })] };
  };
}

type NamedStatus = PlatformStatus['services'][number];

function named(name: NamedStatus['name'], status: ServiceStatus | undefined): NamedStatus {
  const { version, startedAt, store } = status ?? { version: null, startedAt: null, store: null };
  return { name, isUp: status !== undefined, version, startedAt, store };
}

/** Longer than a working event log, or the handover of a relay, ever takes. */
const LATE_S = 10;

interface StatusDetails extends Pick<TasksStatus, 'relayFailingSeconds'> {
  /** See `Connections`. */
  aheadSeconds: (service: string) => number;
}

/** The problems that an operator should know about, one sentence each. */
function* problemsOf(
  seen: Omit<PlatformStatus, 'problems'>,
  { relayFailingSeconds = 0, aheadSeconds }: StatusDetails,
): Generator<string> {
  const { services, feed, eventLog, cache, backups } = seen;
  for (const { name, isUp, store } of services) {
    if (!isUp) yield `The service ${name} does not respond.`;
    else if (store && !store.isUp) yield `The database of ${name} does not respond.`;
    else {
      if (store && store.missing.length > 0) yield `The database of ${name} has to be migrated.`;
      if (store && store.unknown.length > 0) yield `The database of ${name} is of a newer version.`;
    }
  }
  if (new Set(services.flatMap(({ version }) => version ?? [])).size > 1)
    yield 'The services are of different versions.';
  for (const { name } of services) {
    const seconds = aheadSeconds(name);
    if (seconds !== 0)
      yield `The clock of ${name} is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this gateway's.`;
  }
  if (relayFailingSeconds > LATE_S)
    yield `The relay of tasks has failed for ${Math.round(relayFailingSeconds)} seconds: see its log.`;
  if (eventLog.isUpForTasks === false) yield 'The event log does not respond to the service tasks: the feed is late.';
  if (!eventLog.isUpForGateway) yield 'The event log does not respond to this gateway: the feed is late.';
  if (!cache.isUp) yield 'Redis does not respond to this gateway, or refuses writes: each process counts limits.';
  if (feed && feed.oldestPendingAgeSeconds > LATE_S)
    yield `A change has been waiting for the event log for ${Math.round(feed.oldestPendingAgeSeconds)} seconds.`;
  const dead = feed ? feed.deadLetters.relay + feed.deadLetters.gateway : 0;
  if (dead > 0) yield `${dead} dead ${dead === 1 ? 'letter waits' : 'letters wait'} for an operator.`;
  // The list of archives is in the database; without it, the state of the archives' storage is not known.
  const isListUp = services.some(({ name, store }) => name === 'backup' && store?.isUp);
  if (backups && !backups.archives && isListUp) yield 'The archive storage does not respond.';
  if (backups?.schedule?.failingSince) yield `Scheduled backups have failed since ${backups.schedule.failingSince}.`;
  if (backups?.verifySchedule?.failingSince)
    yield `Scheduled verifications have failed since ${backups.verifySchedule.failingSince}.`;
}

/** The same figures as on the admin port. */
async function readRealtimeFigures(metrics: Registry): Promise<PlatformStatus['realtime']> {
  const valuesOf = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values ?? [];
  const sumOf = async (name: string) => (await valuesOf(name)).reduce((sum, { value }) => sum + value, 0);
  const connections = (await valuesOf('taskmesh_realtime_connections')).map(
    ({ labels, value }) => [String(labels.protocol), value] as const,
  );
  return {
    connections: Object.fromEntries(connections),
    subscriptions: await sumOf('taskmesh_realtime_subscriptions'),
    owners: await sumOf('taskmesh_realtime_owners'),
    queueBytes: await sumOf('taskmesh_realtime_queue_bytes'),
  };
}
