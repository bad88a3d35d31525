import { createLog } from '@taskmesh/service';
import { createOwnerEraser } from './closed-owners.ts';

it('erases the other owners when some fail, and rejects with the first failure and its owner', async () => {
  const finished: string[] = [];
  const eraser = createOwnerEraser({
    repository: {
      closed: async (after) => (after < 'a' ? ['a', 'b', 'c', 'd'] : []),
      async deleteTasks(ownerId) {
        if ('ad'.includes(ownerId)) throw new Error('cannot delete tasks');
        return 0;
      },
      eraseChanges: async () => 0,
      eraseOthers: async () => 0,
      finish: async (ownerId) => finished.push(ownerId) > 0,
    },
    onCommitted: () => undefined,
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
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
  const eraser = createOwnerEraser({
    repository: {
      closed: async (after) => [...left.keys()].filter((ownerId) => ownerId > after),
      async deleteTasks(ownerId, _now, limit) {
        const count = Math.min(limit, left.get(ownerId) ?? 0);
        left.set(ownerId, (left.get(ownerId) ?? 0) - count);
        deleted.push([ownerId, count]);
        return count;
      },
      eraseChanges: async () => 0,
      eraseOthers: async () => 0,
      finish: async (ownerId) => !ownerId.startsWith('waiting') && left.delete(ownerId),
    },
    onCommitted: () => undefined,
    clock: { now: () => 0 },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  const begun = performance.now();
  await eraser.run();
  expect(performance.now() - begun).toBeGreaterThan(350);
  const all = ['large 25', 'small 10', 'waiting for the log 0', 'large 25', 'large 25', 'large 25', 'large 0'];
  expect(deleted.map((each) => each.join(' '))).toEqual(all);
});
