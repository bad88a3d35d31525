import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { type ServiceStatus, STATUS_PART_MS, type StatusOf } from '@taskmesh/internal-api';
import { askInTime, readVersion } from '@taskmesh/service';
import type { Registry } from 'prom-client';
import type { GatewayContext } from '../context.ts';
import type { PlatformStatus } from './schemas/operators.ts';

export type StatusContext = Pick<GatewayContext, 'clock' | 'connections' | 'eventLog' | 'keyValue' | 'log' | 'metrics'>;

/** Answers within about a second, even if everything is down. */
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

type NamedStatus = PlatformStatus['services'][number];

function named(name: NamedStatus['name'], status: ServiceStatus | undefined): NamedStatus {
  const { version, startedAt, store } = status ?? { version: null, startedAt: null, store: null };
  return { name, isUp: status !== undefined, version, startedAt, store };
}

/** As long as an event log that works, and a relay that changes hands, never take. */
const LATE_S = 10;

type Relays = Record<string, Pick<ServiceStatus, 'relayFailingSeconds'> | undefined>;

type AheadSeconds = (service: string) => number;

/** What an operator should know of, each in a sentence. `relays`: by service; `aheadSeconds`: see `ServiceClocks`. */
function problemsOf(seen: Omit<PlatformStatus, 'problems'>, relays: Relays, aheadSeconds: AheadSeconds): string[] {
  return [
    ...ofServices(seen),
    ...ofClocks(seen, aheadSeconds),
    ...ofRelays(relays),
    ...ofFeed(seen),
    ...ofBackups(seen),
  ];
}

function ofServices({ services }: Pick<PlatformStatus, 'services'>): string[] {
  const versions = new Set(services.flatMap(({ version }) => version ?? []));
  return [
    ...services.flatMap(({ name, isUp, store }) => {
      if (!isUp) return [`The service ${name} does not answer.`];
      if (!store) return [];
      if (!store.isUp) return [`The database of ${name} does not answer.`];
      return [
        ...(store.missing.length > 0 ? [`The database of ${name} has to be migrated.`] : []),
        ...(store.unknown.length > 0 ? [`The database of ${name} is of a newer version.`] : []),
      ];
    }),
    ...(versions.size > 1 ? ['The services are of different versions.'] : []),
  ];
}

function ofClocks({ services }: Pick<PlatformStatus, 'services'>, aheadSeconds: AheadSeconds): string[] {
  return services.flatMap(({ name }) => {
    const seconds = aheadSeconds(name);
    if (seconds === 0) return [];
    return [`The clock of ${name} is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this gateway's.`];
  });
}

function ofRelays(relays: Relays): string[] {
  return Object.entries(relays).flatMap(([service, { relayFailingSeconds: seconds = 0 } = {}]) =>
    seconds > LATE_S ? [`The relay of ${service} has failed for ${Math.round(seconds)} seconds: see its log.`] : [],
  );
}

function ofFeed({ feed, eventLog, cache }: Pick<PlatformStatus, 'feed' | 'eventLog' | 'cache'>): string[] {
  const { isUpForTasks, isUpForGateway } = eventLog;
  const dead = feed ? feed.deadLetters.relay + feed.deadLetters.gateway : 0;
  return [
    ...(isUpForTasks === false ? ['The event log does not answer the service tasks: the feed is late.'] : []),
    ...(isUpForGateway ? [] : ['The event log does not answer this gateway: the feed is late.']),
    ...(cache.isUp ? [] : ['Redis does not answer this gateway: limits are counted by each process.']),
    ...(feed && feed.oldestPendingAgeSeconds > LATE_S
      ? [`A change has been waiting for the event log for ${Math.round(feed.oldestPendingAgeSeconds)} seconds.`]
      : []),
    ...(dead > 0 ? [`${dead} dead ${dead === 1 ? 'letter waits' : 'letters wait'} for an operator.`] : []),
  ];
}

function ofBackups({ backups, services }: Pick<PlatformStatus, 'backups' | 'services'>): string[] {
  if (!backups) return [];
  const { archives, schedule, verifySchedule } = backups;
  // The list of archives is in the database, so without it the state of their place is not known.
  const isListUp = services.some(({ name, store }) => name === 'backup' && store?.isUp);
  return [
    ...(archives || !isListUp ? [] : ['The place of the archives does not answer.']),
    ...(schedule?.failingSince ? [`Scheduled backups have failed since ${schedule.failingSince}.`] : []),
    ...(verifySchedule?.failingSince
      ? [`Scheduled verifications have failed since ${verifySchedule.failingSince}.`]
      : []),
  ];
}

/** The same numbers as the admin port's. */
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
