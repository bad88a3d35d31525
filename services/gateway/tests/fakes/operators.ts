import { badUserInput } from '@taskmesh/contracts';
import type {
  BackupStatus,
  DeadLetter,
  DeadLettersInternal,
  ServiceStatus,
  StatusOf,
  TasksStatus,
} from '@taskmesh/internal-api';
import { readVersion } from '@taskmesh/service';

/** What services report to operators, from memory. */
export interface FakeOperators {
  auth: StatusOf<ServiceStatus>;
  tasks: StatusOf<TasksStatus>;
  backup: StatusOf<BackupStatus>;
  deadLetters: DeadLettersInternal;
  /** What they report; a test changes it. */
  reported: { auth: ServiceStatus; tasks: TasksStatus; backup: BackupStatus };
  letters: DeadLetter[];
  /** What the services do before they report; for the next call only. */
  before(work: (() => Promise<unknown>) | undefined): void;
}

export function createFakeOperators(): FakeOperators {
  const service = (): ServiceStatus => ({
    version: readVersion(),
    startedAt: '2026-11-20T10:00:00.000Z',
    store: { isUp: true, schema: '0001-first', missing: [], unknown: [] },
  });
  const reported: FakeOperators['reported'] = {
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
  const letters: DeadLetter[] = [];
  let work: (() => Promise<unknown>) | undefined;
  const begin = async () => {
    const due = work;
    work = undefined;
    await due?.();
  };

  const take = (choice: unknown) => {
    const { ids, all, ...others } = choice as { ids?: string[]; all?: true }; // checked here
    expect(others).toEqual({}); // a fake would ignore what it does not know
    if ((ids === undefined) === (all === undefined)) throw badUserInput([{ path: '', message: 'Say which.' }]);
    return letters.filter(({ id }) => all ?? ids?.includes(id));
  };
  const remove = (gone: DeadLetter[]) => {
    for (const letter of gone) letters.splice(letters.indexOf(letter), 1);
    return gone.length;
  };
  const statusOf = <Name extends keyof FakeOperators['reported']>(name: Name) => ({
    async status() {
      await begin();
      return reported[name];
    },
  });

  return {
    auth: statusOf('auth'),
    tasks: statusOf('tasks'),
    backup: statusOf('backup'),
    deadLetters: {
      async deadLetters({ after = '0', limit = 100, ...others }) {
        expect(others).toEqual({});
        await begin();
        return letters.filter(({ id }) => BigInt(id) > BigInt(after)).slice(0, limit);
      },
      async replayDeadLetters(choice) {
        await begin();
        return { replayed: remove(take(choice).filter(({ canReplay }) => canReplay)) };
      },
      async discardDeadLetters(choice) {
        await begin();
        return { discarded: remove(take(choice)) };
      },
    },
    reported,
    letters,
    before: (due) => (work = due),
  };
}
