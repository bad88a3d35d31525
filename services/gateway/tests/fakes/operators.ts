import type { BackupStatus, DeadLettersInternal, ServiceStatus, TasksStatus } from '@taskmesh/internal-api';
import { readVersion } from '@taskmesh/service';

/** Fake reports of services to operators. */
export function createFakeOperators() {
  const service = (): ServiceStatus => ({
    version: readVersion(),
    startedAt: '2026-11-20T10:00:00.000Z',
    store: { isUp: true, schema: '0001-first', missing: [], unknown: [] },
  });
  /** Tests may change it. */
  const reported: { auth: ServiceStatus; tasks: TasksStatus; backup: BackupStatus } = {
    auth: service(),
    tasks: {
      ...service(),
      feed: { epoch: 1, pending: 0, oldestPendingAgeSeconds: 0, deadLetters: { relay: 0, gateway: 0 } },
      eventLog: { system: 'memory', isUp: true },
    },
    backup: {
      ...service(),
      backups: {
        place: 'directory',
        isEncrypted: false,
        archives: { count: 0, totalBytes: 0, newest: null, newestProved: null },
        schedule: { pattern: '30 3 * * *', nextAt: '2026-11-21T03:30:00.000Z', failingSince: null },
        verifySchedule: null,
        verifiesScheduled: true,
        keep: { last: 3 },
        undoableMs: 86_400_000,
        undoable: null,
      },
    },
  };
  const deadLetters: DeadLettersInternal = {
    deadLetters: async () => [],
    replayDeadLetters: async () => ({ replayed: 1 }),
    discardDeadLetters: async () => ({ discarded: 1 }),
  };
  return {
    auth: { status: async () => reported.auth },
    tasks: { status: async () => reported.tasks },
    backup: { status: async () => reported.backup },
    ...{ deadLetters, reported },
  };
}
