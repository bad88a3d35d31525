import type { ChangeRow } from '@taskmesh/tasks/simulated';
import { partOf } from '@taskmesh/tasks/simulated';
import type { StreamedChange } from '../clients/streams/stream.ts';
import type { Write } from '../faults/write.ts';
import type { VirtualTime } from './virtual-time.ts';

/** What was committed, as its owner's streams have to tell it. */
export interface Committed extends Omit<StreamedChange, 'seenAt'> {
  epoch: number;
  sequence: number;
  at: number;
}

/** The store of one epoch. */
interface Epoch {
  epoch: number;
  cursorKey: Uint8Array;
  /** Everything that was ever committed, by owner. */
  log: Map<string, Committed[]>;
  rows: (ChangeRow & { part: number; isPublished: boolean })[];
  /** By owner, up to which change its log is no longer kept. */
  forgotten: Map<string, number>;
}

export type Store = ReturnType<typeof createStore>;

/** What PostgreSQL keeps for the feed, and all that ever was in it. A restore makes an empty one of the next epoch. */
export function createStore(time: VirtualTime, random: () => number) {
  const epochs: Epoch[] = [];
  let tasks = 0;
  let ids = 0;
  const onRestored: (() => void)[] = [];

  const begin = () =>
    epochs.push({
      epoch: epochs.length + 1,
      cursorKey: Uint8Array.from({ length: 32 }, () => Math.floor(random() * 256)),
      log: new Map(),
      rows: [],
      forgotten: new Map(),
    });
  begin();
  const current = (): Epoch => epochs.at(-1) ?? failed('there is always an epoch');
  const logOf = (owner: string, epoch = current().epoch): Committed[] => epochs[epoch - 1]?.log.get(owner) ?? [];

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
    /** Housekeeping: of this owner only the newest changes are kept. */
    forget(owner: string, kept: number) {
      current().forgotten.set(owner, Math.max(0, logOf(owner).length - kept));
    },
    commit(owner: string): Committed {
      const { epoch, log, rows } = current();
      const changes = log.get(owner) ?? [];
      log.set(owner, changes);
      const sequence = changes.length + 1;
      const living = [...listAfter(changes).values()];
      const before = random() < 0.4 ? living[Math.floor(random() * living.length)] : undefined;
      const kind = before ? (random() < 0.3 ? 'DELETE' : 'UPDATE') : 'INSERT';
      const title = `${sequence} of epoch ${epoch}`;
      const task =
        kind === 'DELETE' && before
          ? before
          : { id: before?.id ?? guid(++tasks), ownerId: owner, title, version: (before?.version ?? 0) + 1 };
      const change: Committed = { epoch, sequence, kind, task, previous: before ?? null, at: time.now() };
      changes.push(change);
      rows.push({
        id: String(++ids),
        owner_id: owner,
        sequence: String(sequence),
        kind,
        task: rowOf(task),
        previous: before ? rowOf(before) : null,
        occurred_at: '2026-01-01 00:00:00.000+00',
        traceparent: null,
        part: partOf(owner),
        isPublished: false,
      });
      return change;
    },
  };
}

type Seen = StreamedChange['task'];

/** The list that a client has that was told these changes. */
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
  return JSON.stringify({
    id,
    user_id: ownerId,
    title,
    description: null,
    completed: false,
    due_date: null,
    category: null,
    priority: 'low',
    created_at: at,
    updated_at: at,
    version,
  });
}

export function guid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}

function failed(why: string): never {
  throw new Error(why);
}
