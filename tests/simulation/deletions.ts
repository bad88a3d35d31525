import { parseTaskChanged, TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import type { EventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import {
  createAccountLogReader,
  createClosedOwners,
  createOwnerEraser,
  createOwnerRepository,
} from '@taskmesh/tasks/simulated';
import type { createDatabase, Statement } from './database.ts';
import type { createFaults } from './faults.ts';
import { INSTANCES } from './schedule.ts';
import type { Store } from './store.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { AccountDeleted, AccountsInternal } from '@taskmesh/internal-api';

const FIRST_EPOCH = 5;
/** Small, so that there are several pages. */
const MAX_PAGE_SIZE = 2;

/** Creates the account log of auth. */
function createAccounts() {
  let epoch = FIRST_EPOCH;
  const ids: string[] = [];
  const entries = (): AccountDeleted[] =>
    ids.map((accountId, index) => ({
      ...{ kind: 'DELETED', epoch, sequence: index + 1, accountId },
      occurredAt: '2026-01-01T00:00:00.000Z',
    }));

  return {
    deleted: (): readonly string[] => ids,
    delete(accountId: string) {
      if (!ids.includes(accountId)) ids.push(accountId);
    },
    /** Begins a new epoch, as a restore of auth's store does. */
    beginEpoch: () => void epoch++,
    internal: {
      async accountChanges(after) {
        const isOurs = after.epoch === epoch && after.sequence <= ids.length;
        const behind = isOurs ? after.sequence : 0;
        return { epoch, head: ids.length, changes: entries().slice(behind, behind + MAX_PAGE_SIZE) };
      },
    } satisfies AccountsInternal,
  };
}

const log = createLog({ service: 'simulation', level: 'silent' });

export interface DeletionsDeps {
  time: VirtualTime;
  store: Store;
  database: ReturnType<typeof createDatabase>;
  faults: ReturnType<typeof createFaults>;
  eventLog: EventLog;
  /** Called when there are changes of this owner to publish. */
  onCommitted: (owner: string) => void;
}

/** Creates the instances that delete the data of deleted accounts. Each may die between any two of its steps. */
export function createDeletions({ time, store, database, faults, eventLog, onCommitted }: DeletionsDeps) {
  const accounts = createAccounts();
  /** The sequences that the event log received, by epoch and owner. */
  const published = new Map<string, Set<number>>();
  const keyOf = (epoch: number, owner: string) => `${epoch} ${owner}`;
  const witness = eventLog.read(TASK_CHANGES_TOPIC, ({ value }) => {
    const { epoch, ownerId, sequence } = parseTaskChanged(value);
    const ofOwner = published.get(keyOf(epoch, ownerId)) ?? new Set();
    published.set(keyOf(epoch, ownerId), ofOwner.add(sequence));
  });

  const run = () => {
    let isDead = false;
    /** Never resolves once the instance is dead. */
    const whileAlive = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const result = isDead ? undefined : await work();
      return isDead ? new Promise(() => undefined) : (result as Result); // undefined only if dead
    };
    const repository = createOwnerRepository({
      openSession: database.openSession,
      run: <Found>(kind: unknown, statement: Statement, values: readonly unknown[]) =>
        whileAlive(() => faults.call('owners', () => whileAlive(() => database.run<Found>(kind, statement, values)))),
    });
    const internal: typeof accounts.internal = {
      accountChanges: (after) =>
        whileAlive(() => faults.call('accountChanges', () => accounts.internal.accountChanges(after))),
    };
    const closedOwners = createClosedOwners({
      reader: createAccountLogReader({ repository, accounts: internal, onClosed: () => closedOwners.wake() }),
      eraser: createOwnerEraser({ repository, onCommitted, clock: time.clock, log }),
      log,
    });
    void closedOwners.start();
    return { kill: () => void (isDead = true), stop: closedOwners.stop };
  };
  const instances = Array.from({ length: INSTANCES }, (): ReturnType<typeof run> | undefined => run());
  let isOver = false;

  /** Reports data that remains of an owner whose account was deleted, and changes that were never published. */
  const remains = (owner: string): string[] => {
    const { epoch, closed, leaving, rows, forgotten } = store.current();
    const changes = store.logOf(owner);
    const isKept = ({ owner_id, sequence }: (typeof rows)[number]) =>
      owner_id === owner && Number(sequence) > (forgotten.get(owner) ?? 0);
    const received = published.get(keyOf(epoch, owner));
    const undelivered = changes.filter(({ sequence, isOld }) => !isOld && !received?.has(sequence));
    const findings: [what: string, applies: boolean][] = [
      ['may be written for', !closed.has(owner)],
      ['has tasks', store.living(owner).length > 0],
      ['has changes', rows.some(isKept)],
      ['is not done with', leaving.has(owner)],
    ];
    return [
      ...findings.flatMap(([what, applies]) => (applies ? [`${owner} ${what} although the account was deleted`] : [])),
      ...undelivered.map(({ sequence }) => `${owner}: change ${sequence} was erased and never published`),
    ];
  };

  /** Checks that the feed ends with a DELETE of each remaining task, oldest first, and nothing else. */
  const disordered = (owner: string): string[] => {
    const changes = store.logOf(owner);
    const end = changes.slice(changes.findIndex(({ isEnd }) => isEnd));
    const ids = end.map(({ task }) => task.id);
    const isInOrder = end.every(({ isEnd }) => isEnd) && String(ids) === String(ids.toSorted());
    return isInOrder || !changes.some(({ isEnd }) => isEnd)
      ? []
      : [`${owner}: its feed does not end with a DELETE of each task by its age`];
  };

  return {
    delete: accounts.delete,
    beginLogEpoch: accounts.beginEpoch,
    isDeleted: (owner: string) => accounts.deleted().includes(owner),
    crash(index: number, awayMs: number) {
      const instance = instances[index];
      if (!instance) return;
      instance.kill();
      instances[index] = undefined;
      void time.sleep(awayMs).then(() => {
        if (!isOver) instances[index] = run();
      });
    },
    /** Returns promises about deleted and other accounts that are not kept (yet). */
    findings: (): string[] => [
      ...accounts.deleted().flatMap((owner) => [...remains(owner), ...disordered(owner)]),
      ...[...store.current().closed]
        .filter((owner) => !accounts.deleted().includes(owner))
        .map((owner) => `${owner} is closed although its account was not deleted`),
    ],
    async stop() {
      isOver = true;
      await witness.stop();
      await Promise.all(instances.map((instance) => instance?.stop()));
    },
  };
}
