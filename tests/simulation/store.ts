import type { AccountLogPosition } from '@taskmesh/internal-api';
import { partOf, type ChangeRow } from '@taskmesh/tasks/simulated';
import type { StreamedChange } from '../feed/streams/stream.ts';
import type { Write } from '../faults/write.ts';
import type { VirtualTime } from './virtual-time.ts';

/** A committed change, as the owner's streams must deliver it. */
export interface Committed extends Omit<StreamedChange, 'seenAt'> {
  epoch: number;
  sequence: number;
  at: number;
  /** Whether the task was deleted with the account. */
  isEnd?: boolean;
  /** Whether the change was published before the simulation began. */
  isOld?: boolean;
}

/** The store of one epoch. */
interface Epoch {
  epoch: number;
  cursorKey: Uint8Array;
  /** All changes ever committed, by owner. */
  log: Map<string, Committed[]>;
  rows: (ChangeRow & { part: number; isPublished: boolean })[];
  /** The sequence of the last change that is no longer kept, by owner. */
  forgotten: Map<string, number>;
  /** Owners whose writes are refused. */
  closed: Set<string>;
  /** Closed owners that still have data. */
  leaving: Set<string>;
  /** The position in the account log. */
  position: AccountLogPosition;
}

export type Store = ReturnType<typeof createStore>;

/**
 * Simulates PostgreSQL's data for the feed, with its full history. A restore begins the next epoch with an empty store, in
 * which the owners of deleted accounts stay closed.
 */
export function createStore(time: VirtualTime, random: () => number) {
  const epochs: Epoch[] = [];
  let tasks = 0;
  let ids = 0;
  const onRestored: (() => void)[] = [];

  const begin = () => {
    const { closed = [], position = { epoch: 0, sequence: 0 } } = epochs.at(-1) ?? {};
    epochs.push({
      ...{ epoch: epochs.length + 1, log: new Map(), rows: [], forgotten: new Map() },
      ...{ closed: new Set(closed), leaving: new Set(), position },
      cursorKey: Uint8Array.from({ length: 32 }, () => Math.floor(random() * 256)),
    });
  };
  begin();
  const current = () => epochs.at(-1) as Epoch; // there is always one
  const logOf = (owner: string, epoch = current().epoch): Committed[] => epochs[epoch - 1]?.log.get(owner) ?? [];

  type Change = Pick<Committed, 'kind' | 'task' | 'isEnd' | 'isOld'> & { before?: Seen };

  const append = (owner: string, { before, ...change }: Change) => {
    const { epoch, log, rows } = current();
    const changes = log.get(owner) ?? [];
    log.set(owner, changes);
    const sequence = changes.length + 1;
    const { kind, task, isOld = false } = change;
    changes.push({ ...change, epoch, sequence, previous: before ?? null, at: time.now() });
    rows.push({
      ...{ id: String(++ids), owner_id: owner, sequence: String(sequence), part: partOf(owner), isPublished: isOld },
      ...{ kind, task: rowOf(task), previous: before ? rowOf(before) : null },
      ...{ occurred_at: '2026-01-01 00:00:00.000+00', traceparent: null },
    });
  };
  const living = (owner: string): Seen[] => [...listAfter(logOf(owner)).values()];
  const insertion = (owner: string): Change => {
    const title = `${logOf(owner).length + 1} of epoch ${current().epoch}`;
    return { kind: 'INSERT', task: { id: guid(++tasks), ownerId: owner, title, version: 1 } };
  };

  return {
    epoch: () => current().epoch,
    current,
    logOf,
    head: (owner: string) => logOf(owner).length,
    onRestored: (listener: () => void) => void onRestored.push(listener),
    restore() {
      begin();
      for (const listener of onRestored) listener();
    },
    /** Simulates housekeeping, which keeps only the newest changes of an owner. */
    forget(owner: string, kept: number) {
      const { forgotten } = current();
      forgotten.set(owner, Math.max(forgotten.get(owner) ?? 0, logOf(owner).length - kept));
    },
    living,
    /** Commits a random change. Returns false if the owner is closed. */
    commit(owner: string): boolean {
      const { epoch, closed } = current();
      if (closed.has(owner)) return false;
      const tasks = living(owner);
      const before = random() < 0.4 ? tasks[Math.floor(random() * tasks.length)] : undefined;
      if (!before) append(owner, insertion(owner));
      else if (random() < 0.3) append(owner, { kind: 'DELETE', task: before, before });
      else {
        const title = `${logOf(owner).length + 1} of epoch ${epoch}`;
        append(owner, { kind: 'UPDATE', task: { ...before, title, version: before.version + 1 }, before });
      }
      return true;
    },
    /** Adds tasks as if they had always existed. */
    fill(owner: string, count: number) {
      for (let number = 0; number < count; number++) append(owner, { ...insertion(owner), isOld: true });
    },
    /** Deletes tasks of a deleted account, oldest first. Returns their number. */
    remove(owner: string, limit: number): number {
      const tasks = living(owner)
        .toSorted((one, other) => (one.id < other.id ? -1 : 1))
        .slice(0, limit);
      for (const task of tasks) append(owner, { kind: 'DELETE', task, before: task, isEnd: true });
      return tasks.length;
    },
  };
}

type Seen = StreamedChange['task'];

/** Returns the list of a client that received these changes. */
export function listAfter(changes: readonly Pick<Committed, 'kind' | 'task'>[]): Map<string, Seen> {
  const list = new Map<string, Seen>();
  for (const { kind, task } of changes) {
    if (kind === 'DELETE') list.delete(task.id);
    else list.set(task.id, task);
  }
  return list;
}

export function asWrite({ kind, task, at }: Committed): Write {
  return { kind, title: task.title, taskId: task.id, outcome: 'confirmed', sentAt: at, answeredAt: at };
}

function rowOf({ id, ownerId, title, version }: Seen): string {
  const at = '2026-01-01T00:00:00.000+00:00';
  const plain = { description: null, completed: false, due_date: null, category: null, priority: 'low' };
  return JSON.stringify({ id, user_id: ownerId, title, ...plain, created_at: at, updated_at: at, version });
}

export function guid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}
