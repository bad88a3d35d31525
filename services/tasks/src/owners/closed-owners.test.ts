import { createLog } from '@taskmesh/service';
import { createAccountLogReader, createClosedOwners, createOwnerEraser } from './closed-owners.ts';

type Deps = Parameters<typeof createOwnerEraser>[0];

/** An eraser whose owners have only tasks. */
const eraserOf = (
  repository: Pick<Deps['repository'], 'closed' | 'deleteTasks' | 'finish'>,
  more: Partial<Omit<Deps, 'repository'>> = {},
) =>
  createOwnerEraser({
    repository: { eraseChanges: async () => 0, eraseOthers: async () => 0, ...repository },
    onCommitted: () => undefined,
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
    ...more,
  });

it('erases the other owners when some fail, and rejects with the first failure and its owner', async () => {
  const finished: string[] = [];
  const eraser = eraserOf({
    closed: async (after) => (after < 'a' ? ['a', 'b', 'c', 'd'] : []),
    async deleteTasks(ownerId) {
      if ('ad'.includes(ownerId)) throw new Error('cannot delete tasks');
      return 0;
    },
    finish: async (ownerId) => finished.push(ownerId) > 0,
  });
  await expect(eraser.run()).rejects.toMatchObject({
    message: 'Erasing 2 of the deleted accounts failed. The first is a.',
    cause: new Error('cannot delete tasks'),
  });
  expect(finished).toEqual(['b', 'c']);
});

it('deletes many tasks in small batches with pauses, and visits every other owner once meanwhile', async () => {
  const left = new Map([
    ['large', 100],
    ['small', 10],
    ['waiting for the log', 0],
  ]);
  const deleted: [string, number][] = [];
  const eraser = eraserOf({
    closed: async (after) => [...left.keys()].filter((ownerId) => ownerId > after),
    async deleteTasks(ownerId, _now, limit) {
      const count = Math.min(limit, left.get(ownerId) ?? 0);
      left.set(ownerId, (left.get(ownerId) ?? 0) - count);
      deleted.push([ownerId, count]);
      return count;
    },
    finish: async (ownerId) => !ownerId.startsWith('waiting') && left.delete(ownerId),
  });
  const begun = performance.now();
  await eraser.run();
  expect(performance.now() - begun).toBeGreaterThan(350);
  const all = ['large 25', 'small 10', 'waiting for the log 0', 'large 25', 'large 25', 'large 25', 'large 0'];
  expect(deleted.map((each) => each.join(' '))).toEqual(all);
});

it('ends a run while an account still has tasks: the changes of others may be published by then, and failures are reported', async () => {
  const left = new Map([
    ['endless', Infinity],
    ['fails once', 10],
    ['small', 10],
  ]);
  const [published, finished]: [Set<string>, string[]] = [new Set(), []];
  let [nowMs, failures] = [0, 0];
  const eraser = eraserOf(
    {
      closed: async (after) => [...left.keys()].filter((ownerId) => ownerId > after && !finished.includes(ownerId)),
      async deleteTasks(ownerId, _now, limit) {
        nowMs += 1_000;
        if (nowMs > 60_000) eraser.stop();
        if (ownerId.startsWith('fails') && failures++ === 0) throw new Error('cannot delete tasks');
        const count = Math.min(limit, left.get(ownerId) ?? 0);
        left.set(ownerId, (left.get(ownerId) ?? 0) - count);
        return count;
      },
      finish: async (ownerId) => published.has(ownerId) && finished.push(ownerId) > 0,
    },
    { onCommitted: (ownerId) => void setTimeout(() => published.add(ownerId), 20), monotonicMs: () => nowMs },
  );
  await expect(eraser.run()).rejects.toThrow('Erasing 1 of the deleted accounts failed. The first is fails once.');
  for (let run = 0; run < 2; run++) await eraser.run();
  expect([finished, left.get('endless')]).toEqual([['small', 'fails once'], Infinity]);
});

it('stops after the current entry of a long account log', async () => {
  const ENTRIES = 5_000;
  let [closed, sequence] = [0, 0];
  const log = createLog({ service: 'test', level: 'silent' });
  const repository = {
    ...{
      position: async () => ({ epoch: 1, sequence }),
      countTasks: async () => undefined,
      move: async () => undefined,
    },
    isClosed: async () => true,
    async close() {
      sequence++;
      if (++closed === 3) stopping.resolve(closedOwners.stop());
      return true;
    },
  };
  const stopping = Promise.withResolvers<void>();
  const accounts = {
    async accountChanges(after: { sequence: number }) {
      const entries = Array.from({ length: 10 }, (_, n) => after.sequence + n + 1).filter((next) => next <= ENTRIES);
      const entry = { kind: 'DELETED' as const, epoch: 1, accountId: 'a', occurredAt: '2026-11-20T10:00:00.000Z' };
      return { epoch: 1, head: ENTRIES, changes: entries.map((next) => ({ ...entry, sequence: next })) };
    },
  };
  const closedOwners = createClosedOwners({
    reader: createAccountLogReader({ repository, accounts, onClosed: () => undefined }),
    eraser: eraserOf({ closed: async () => [], deleteTasks: async () => 0, finish: async () => true }),
    log,
  });
  await closedOwners.start();
  await stopping.promise;
  expect(closed).toBe(3);
});
