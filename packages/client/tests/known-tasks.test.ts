import { createKnownTasks, type Change, type Page } from '../src/list/known-tasks.ts';
import { shapeOf, type Task } from '../src/list/shape.ts';

const task = (id: string, fields: Partial<Task> = {}): Task => ({
  id,
  title: id,
  description: null,
  completed: false,
  dueDate: null,
  category: null,
  priority: 'MEDIUM',
  createdAt: `2026-01-01T00:00:00.00${id}Z`,
  updatedAt: '2026-01-01T00:00:00.000Z',
  version: 1,
  ...fields,
});
const page = (tasks: Task[], { hasNextPage = false, totalCount = tasks.length } = {}): Page => ({
  edges: tasks.map((node) => ({ node })),
  pageInfo: { hasNextPage, endCursor: tasks.at(-1)?.id ?? null },
  totalCount,
  changesCursor: 'begin',
});
const change = (sequence: number, kind: Change['kind'], now: Task, previous: Task | null): Change => ({
  cursor: `c${sequence}`,
  sequence,
  kind,
  task: now,
  previous,
});
const OLDEST_FIRST = shapeOf({ completed: false }, { direction: 'ASC' });
const open = (first: Page) => createKnownTasks(OLDEST_FIRST, first);
const ids = (known: ReturnType<typeof open>) => known.all().map(({ id, version }) => `${id}.${version}`);

describe('a page that is newer than the position of the feed', () => {
  it('is not overwritten by older changes in the feed', () => {
    const known = open(page([task('1')], { hasNextPage: true, totalCount: 2 }));
    known.extend(page([task('2', { version: 3 })]));
    known.apply(change(1, 'UPDATE', task('2', { version: 2, title: 'earlier' }), task('2')));
    expect(ids(known)).toEqual(['1.1', '2.3']);
    known.apply(change(2, 'UPDATE', task('2', { version: 3 }), task('2', { version: 2 })));
    expect(ids(known)).toEqual(['1.1', '2.3']);
  });
});

describe('a page that is older than changes reported while it was being read', () => {
  it('does not restore tasks that were deleted or no longer match', () => {
    const known = open(page([task('1')], { hasNextPage: true, totalCount: 3 }));
    const unwatch = known.trackReports();
    known.apply(change(1, 'DELETE', task('2'), task('2')));
    known.apply(change(2, 'UPDATE', task('3', { version: 2, completed: true }), task('3')));
    known.extend(page([task('2'), task('3')]));
    unwatch();
    expect(ids(known)).toEqual(['1.1']);
    expect([known.total(), known.hasMore()]).toEqual([1, false]);
  });

  it('includes tasks that were added within it meanwhile', () => {
    const known = open(page([task('1')], { hasNextPage: true, totalCount: 1 }));
    const unwatch = known.trackReports();
    known.apply(change(1, 'INSERT', task('3'), null));
    expect(ids(known)).toEqual(['1.1']);
    known.extend(page([]));
    unwatch();
    expect(ids(known)).toEqual(['1.1', '3.1']);
  });
});
