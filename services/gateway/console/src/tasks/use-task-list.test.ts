import type { LiveTasks, LiveTasksOptions } from '@taskmesh/client';
import { keepLists } from './use-task-list.ts';

it('returns the same list on a second visit, and keeps only the most recently used lists', () => {
  const made: (LiveTasksOptions | undefined)[] = [];
  const { liveTasks } = keepLists({
    liveTasks(options) {
      made.push(options);
      return { get: () => made.length } as unknown as LiveTasks; // makes each list distinguishable
    },
  });
  const open = (category: string) => liveTasks({ filter: { category } });
  const [first, second] = ['0', '1'].map(open);
  for (const category of ['2', '3', '4', '5', '6', '7', '0', '8']) open(category);
  expect(open('0')).toBe(first);
  expect(open('1')).not.toBe(second);
  expect(made).toHaveLength(10);
});
