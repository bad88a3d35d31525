import type { LiveTasks, LiveTasksOptions } from '@taskmesh/client';
import { keepLists } from './use-task-list.ts';

function createLists() {
  const made: (LiveTasksOptions | undefined)[] = [];
  const { liveTasks } = keepLists({
    liveTasks(options) {
      made.push(options);
      return { get: () => made.length } as unknown as LiveTasks; // makes each list distinguishable
    },
  });
  return { made, open: (category: string) => liveTasks({ filter: { category } }) };
}

it('returns the same list on a second visit', () => {
  const { open, made } = createLists();
  const first = open('home');
  expect(open('work')).not.toBe(first);
  expect(open('home')).toBe(first);
  expect(made).toHaveLength(2);
});

it('keeps only the most recently used lists', () => {
  const { open, made } = createLists();
  const [first, second] = ['0', '1'].map(open);
  for (const category of ['2', '3', '4', '5', '6', '7', '0', '8']) open(category);
  expect(open('0')).toBe(first);
  expect(open('1')).not.toBe(second);
  expect(made).toHaveLength(10);
});
