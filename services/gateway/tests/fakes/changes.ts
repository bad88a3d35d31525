import { sealCursor, unsealCursor, type TaskChanged } from '@taskmesh/contracts';
import type { TasksInternal } from '@taskmesh/internal-api';
import { createSecretKey, randomUUID } from 'node:crypto';

/** A change log in memory, as the gateway uses it. */
export interface FakeChanges extends TasksInternal {
  /** Commits a change without delivering it. */
  commit(ownerId: string, options?: { title?: string; traceparent?: string; task?: { id: string } }): TaskChanged;
  cursor(ownerId: string, sequence: number): string;
}

export function createFakeChanges(): FakeChanges {
  const byOwner = new Map<string, TaskChanged[]>();
  const of = (owner: string) => byOwner.get(owner) ?? [];
  const key = createSecretKey(Buffer.alloc(32));
  const cursor = (owner: string, sequence: number) => sealCursor(key, owner, { epoch: 1, sequence });

  return {
    heads: async (owners, asCursors = false) => ({
      epoch: 1,
      heads: Object.fromEntries(owners.map((owner) => [owner, of(owner).length])),
      cursorKey: key.export().toString('base64'),
      ...(asCursors && {
        cursors: Object.fromEntries(owners.map((owner) => [owner, cursor(owner, of(owner).length)])),
      }),
    }),
    changesAfter: async (owner, sequence, limit) => ({
      epoch: 1,
      expired: false,
      changes: of(owner).slice(sequence, sequence + limit),
    }),
    openCursor: async (owner, text) => unsealCursor(key, owner, text) ?? null,
    reportUnreadable: async () => undefined,
    cursor,
    commit(ownerId, { title = 'a task', traceparent, task = { id: randomUUID() } } = {}) {
      const sequence = of(ownerId).length + 1;
      const at = new Date().toISOString();
      const change: TaskChanged = {
        id: String(sequence),
        epoch: 1,
        ownerId,
        sequence,
        kind: 'INSERT',
        task: {
          ...task,
          ownerId,
          title,
          description: null,
          completed: false,
          dueDate: null,
          category: null,
          priority: 'low',
          createdAt: at,
          updatedAt: at,
          version: 1,
        },
        previous: null,
        occurredAt: at,
        cursor: cursor(ownerId, sequence),
        traceparent: traceparent ?? null,
      };
      byOwner.set(ownerId, [...of(ownerId), change]);
      return change;
    },
  };
}
