import type { Post } from '../src/http.ts';
import { createLiveTasks } from '../src/list/live-tasks.ts';
import { createManualTime, settled } from './support/manual-time.ts';
import { noWrites } from './support/no-writes.ts';

const PAGE = 2;

/** Everybody has tasks of their own, of which the server shows a page to the user who is signed in. */
function createWorld() {
  let userId = 'ada';
  let isHeld = false;
  const listeners = new Set<() => void>();
  const waiting: (() => void)[] = [];
  const read = (owner: string, after: string | null) => {
    const from = after === null ? 0 : Number(after);
    const nodes = [0, 1].map((index) => ({
      id: `${owner} ${from + index}`,
      createdAt: String(9 - from - index),
      version: 1,
    }));
    return {
      edges: nodes.map((node) => ({ node })),
      pageInfo: { hasNextPage: true, endCursor: String(from + PAGE) },
      totalCount: 9,
      changesCursor: 'c',
    };
  };
  const request = (async (_document: string, { after }: { after: string | null }) => {
    const owner = userId;
    if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
    return { tasks: read(owner, after) };
  }) as unknown as Post;
  const list = createLiveTasks(
    { first: PAGE },
    {
      session: {
        user: () => ({ id: userId, email: '', name: '' }),
        subscribe(listener) {
          listeners.add(listener);
          return () => void listeners.delete(listener);
        },
        request,
        refresh: async () => undefined,
      },
      writes: noWrites,
      openFeed: () => () => undefined,
      time: createManualTime(),
      onWake: () => () => undefined,
    },
  );
  return {
    list,
    owners: () => [...new Set(list.get().tasks.map(({ id }) => id.split(' ')[0]))],
    turnTo(next: string) {
      userId = next;
      for (const listener of listeners) listener();
    },
    hold: () => void (isHeld = true),
    release() {
      isHeld = false;
      for (const go of waiting.splice(0)) go();
    },
  };
}

async function createIdleList() {
  const world = createWorld();
  const leave = world.list.subscribe(() => undefined);
  await settled();
  leave();
  expect(world.owners()).toEqual(['ada']);
  return world;
}

describe('a list that no one listens to', () => {
  it('shows nothing of one user when another one has signed in', async () => {
    const { list, owners, turnTo } = await createIdleList();
    turnTo('eve');
    expect(owners()).toEqual([]);
    expect(list.get()).toBe(list.get());
    list.subscribe(() => undefined);
    await settled();
    expect(owners()).toEqual(['eve']);
  });

  it('reads nothing behind what another user had', async () => {
    const { list, owners, turnTo } = await createIdleList();
    turnTo('eve');
    await list.loadMore();
    turnTo('ada');
    expect(owners()).toEqual([]);
  });

  it('ignores a page of one user that arrives after another one has signed in', async () => {
    const { list, owners, turnTo, hold, release } = await createIdleList();
    hold();
    const more = list.loadMore(2 * PAGE);
    turnTo('eve');
    release();
    await more;
    expect(owners()).toEqual([]);
  });
});
