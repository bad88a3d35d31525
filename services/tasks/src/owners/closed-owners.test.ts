import { jest } from '@jest/globals';
import { createLog } from '@taskmesh/service';
import { createAccountLogReader, createOwnerEraser } from './closed-owners.ts';

type Deps = Parameters<typeof createOwnerEraser>[0];

/** An eraser whose owners have only tasks. */
const eraserOf = (
  repository: Pick<Deps['repository'], 'listClosed' | 'deleteTasks' | 'finish'>,
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
    listClosed: async (after) => (after < 'a' ? ['a', 'b', 'c', 'd'] : []),
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
      listClosed: async (after) => [...left.keys()].filter((ownerId) => ownerId > after && !finished.includes(ownerId)),
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

it('is at the end of the account log after its last entry, even if a later number was used for none', async () => {
  const moved = jest.fn<() => Promise<void>>(async () => undefined);
  const entry = { kind: 'DELETED', epoch: 1, sequence: 3, accountId: 'deleted', occurredAt: '' } as const;
  const reader = createAccountLogReader({
    repository: {
      position: async () => ({ epoch: 1, sequence: 3 }),
      countTasks: async () => undefined,
      isClosed: async () => true,
      close: async () => true,
      moveTo: moved,
    },
    accounts: { accountChanges: async () => ({ epoch: 1, head: 4, changes: [entry] }) },
    onClosed: () => undefined,
  });
  await reader.catchUp();
  expect(moved).not.toHaveBeenCalled();
});
