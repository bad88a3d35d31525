import { TaskmeshError } from '../src/errors.ts';
import type { Post } from '../src/http.ts';
import { createLiveTasks } from '../src/list/live-tasks.ts';
import { createManualTime } from './support/manual-time.ts';
import { noWrites } from './support/no-writes.ts';

/** A list of a user who stays signed in, though the server refuses their tokens so many times. */
function createWorld(refusals: number) {
  const time = createManualTime();
  const readAt: number[] = [];
  const request = (async () => {
    readAt.push(time.now());
    if (readAt.length <= refusals) throw new TaskmeshError('UNAUTHENTICATED', 'a fresh token is refused');
    return {
      tasks: { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0, changesCursor: '' },
    };
  }) as unknown as Post;
  const list = createLiveTasks(
    {},
    {
      session: {
        user: () => ({ id: 'ada', email: '', name: '' }),
        subscribe: () => () => undefined,
        request,
        refresh: async () => 'fresh',
      },
      writes: noWrites,
      openFeed(_variables, listener) {
        listener.onStanding();
        return () => undefined;
      },
      time,
      onWake: () => () => undefined,
    },
  );
  return { list, time, readAt };
}

it('a list whose first reads are refused with fresh tokens recovers, with growing pauses', async () => {
  const { list, time, readAt } = createWorld(5);
  const statuses = new Set<string>();
  list.subscribe(() => statuses.add(list.get().status));
  await time.pass(60_000);
  expect(list.get().status).toBe('live');
  expect([...statuses]).toEqual(['loading', 'live']);
  const pauses = readAt.slice(1).map((at, index) => at - (readAt[index] ?? 0));
  expect(pauses).toHaveLength(5);
  expect(pauses[0]).toBeGreaterThan(100);
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
});
