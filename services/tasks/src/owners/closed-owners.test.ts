import { createLog } from '@taskmesh/service';
import { createOwnerEraser } from './closed-owners.ts';

it('erases all other owners when some of them fail, and rejects with the first failure and its owner', async () => {
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
