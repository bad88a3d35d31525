import { createLog } from '@taskmesh/service';
import { createOwnerEraser } from './erase-owners.ts';

it('erases all other owners when one of them fails, and rejects with that failure', async () => {
  const finished: string[] = [];
  const eraser = createOwnerEraser({
    repository: {
      closed: async (after) => (after < 'a' ? ['a', 'b', 'c'] : []),
      async deleteTasks(ownerId) {
        if (ownerId === 'a') throw new Error('cannot delete the tasks of a');
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
  await expect(eraser.run()).rejects.toThrow('cannot delete the tasks of a');
  expect(finished).toEqual(['b', 'c']);
});
