import { TaskmeshError } from '../src/errors.ts';
import type { FeedEnd, FeedListener } from '../src/feed/feed.ts';
import type { Post } from '../src/http.ts';
import { createManualTime, settled } from './support/manual-time.ts';
import type { Change } from '../src/list/known-tasks.ts';
import { createLiveTasks } from '../src/list/live-tasks.ts';
import type { Task } from '../src/list/shape.ts';

const PAGE = 2;

/** A page of a server that has many tasks of each owner and returns at most this many. */
function pageOf(owner: string, after: string | null) {
  const from = Number(after ?? 0);
  const nodes = [from, from + 1].map((index) => ({
    id: `${owner} ${index}`,
    createdAt: String(99 - index),
    version: 1,
  }));
  const pageInfo = { hasNextPage: true, endCursor: String(from + PAGE) };
  return { tasks: { edges: nodes.map((node) => ({ node })), pageInfo, totalCount: 50, changesCursor: 'c' } };
}

/** A list without a client, whose user, pages and feed the test controls. There are no writes. */
function createWorld(respond = pageOf) {
  const time = createManualTime();
  const readAt: number[] = [];
  const waiting: (() => void)[] = [];
  const listeners = new Set<() => void>();
  let userId: string | undefined = 'ada';
  let feed: FeedListener | undefined;
  let [areHeld, holds, opened] = [false, 0, 0];
  const request = (async (_document: string, { after }: { after: string | null }) => {
    const owner = String(userId);
    readAt.push(time.now());
    if (areHeld) await new Promise<void>((resolve) => waiting.push(resolve));
    return respond(owner, after);
  }) as unknown as Post;
  const deps = {
    session: {
      user: () => (userId === undefined ? null : { id: userId, email: '', name: '' }),
      subscribe(listener: () => void) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      request,
      refresh: async () => 'fresh',
    },
    writes: {
      ...{ pending: () => [], subscribe: () => () => undefined, confirm: () => undefined, wake: () => undefined },
      async hold() {
        holds += 1;
        return () => void (holds -= 1);
      },
    },
    openFeed(_variables: object, listener: FeedListener) {
      [feed, opened] = [listener, opened + 1];
      return () => undefined;
    },
    ...{ time, onWake: () => () => undefined },
  };
  const list = createLiveTasks({ first: PAGE }, deps);
  return {
    ...{ list, time, readAt, holds: () => holds, opened: () => opened },
    shown: () => list.get().tasks.length,
    owners: () => [...new Set(list.get().tasks.map(({ id }) => id.split(' ')[0]))],
    reports: (change: Change) => feed?.onChange(change, undefined),
    stands: async () => (feed?.onSubscribed(), time.pass(2_000)),
    ends: async (end: FeedEnd, ms = 2_000) => (feed?.onEnd(end), time.pass(ms)),
    turnTo(next: string | undefined) {
      userId = next;
      for (const listener of listeners) listener();
    },
    /** From now on, pages arrive only with `answer`. */
    holdPages: () => void (areHeld = true),
    async answer(times: number, take: () => (() => void) | undefined = () => waiting.shift()) {
      for (let each = 0; each < times; each++) {
        await settled();
        take()?.();
      }
      await settled();
    },
    waiting,
  };
}

describe('a list that reads many pages', () => {
  it('stops reading when its last listener leaves, and stops holding writes', async () => {
    const { list, readAt, answer, holds, holdPages, ends } = createWorld();
    const leave = list.subscribe(() => undefined);
    await settled();
    await list.loadMore(4 * PAGE);
    holdPages();
    await ends({ reason: 'expired' }); // so that the list is read again
    await answer(1);
    const before = readAt.length;
    expect(holds()).toBe(1);
    leave();
    await answer(3);
    expect(readAt.length - before).toBeLessThanOrEqual(1);
    expect(holds()).toBe(0);
  });

  it('reloads as many tasks as it had, including pages loaded during the reload', async () => {
    const { list, answer, holdPages, stands, ends, shown, waiting } = createWorld();
    list.subscribe(() => undefined);
    await settled();
    holdPages();
    await ends({ reason: 'expired' });
    // More of the old list is loaded while the first page is being read again.
    const more = list.loadMore();
    await answer(1, () => waiting.pop());
    await more;
    expect(shown()).toBe(2 * PAGE);
    await answer(2);
    await stands();
    expect([list.get().status, shown()]).toEqual(['live', 2 * PAGE]);
  });
});

it('merges a page with changes that were reported while it was being read, and with older ones afterwards', async () => {
  const { list, answer, holdPages, reports } = createWorld();
  list.subscribe(() => undefined);
  await settled();
  holdPages();
  const more = list.loadMore();
  let sequence = 0;
  const report = (kind: Change['kind'], fields: Partial<Task>, previous: Task | null = null) => {
    const task = { version: 1, ...fields } as Task; // only what a list compares
    reports({ cursor: 'c', sequence: ++sequence, kind, task, previous });
  };
  report('DELETE', { id: 'ada 2', createdAt: '97' });
  report('INSERT', { id: 'new', createdAt: '965' });
  await answer(1);
  await more;
  report('UPDATE', { id: 'ada 3', createdAt: '96', version: 0, title: 'earlier' });
  expect(list.get().tasks.map(({ id, title }) => [id, title])).toEqual(
    ['ada 0', 'ada 1', 'new', 'ada 3'].map((id) => [id, undefined]),
  );
});

it('recovers with growing pauses when the first reads are rejected despite fresh tokens', async () => {
  let reads = 0;
  const { list, time, readAt, stands } = createWorld((owner, after) => {
    if ((reads += 1) <= 5) throw new TaskmeshError('UNAUTHENTICATED', 'a fresh token is refused');
    return pageOf(owner, after);
  });
  const statuses = new Set<string>();
  list.subscribe(() => statuses.add(list.get().status));
  await time.pass(60_000);
  await stands();
  expect([...statuses]).toEqual(['loading', 'live']);
  const pauses = readAt.slice(1).map((at, index) => at - (readAt[index] ?? 0));
  expect(pauses).toHaveLength(5);
  expect(pauses[0]).toBeGreaterThan(100);
  expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
});

describe('a list that follows its feed', () => {
  const CUT: FeedEnd = { reason: 'cut', retryAfterMs: 0 };

  it('reports its status', async () => {
    const { list, stands, ends, turnTo } = createWorld();
    const statuses: string[] = [list.get().status];
    const leave = list.subscribe(() => void statuses.push(list.get().status));
    await settled();
    const error = new TaskmeshError('BAD_USER_INPUT', 'no such order');
    await stands();
    for (const end of [CUT, { reason: 'unauthenticated', token: 'a' }, { reason: 'expired' }] as const) {
      await ends(end);
      await stands();
    }
    await ends({ reason: 'refused', error });
    const shown = statuses.filter((status, index) => status !== statuses[index - 1]);
    const lost = ['reconnecting', 'live'];
    expect(shown).toEqual(['idle', 'loading', 'live', ...lost, ...lost, 'loading', 'live', 'failed']);
    expect(list.get().error).toBe(error);
    leave();
    expect(list.get().status).toBe('idle');
    turnTo(undefined);
    list.subscribe(() => undefined);
    expect(list.get().status).toBe('signed-out');
  });

  it('resets the count of failures only after a connection has lasted', async () => {
    const { list, time, stands, ends, opened } = createWorld();
    list.subscribe(() => undefined);
    await settled();
    for (let failures = 0; failures < 9; failures++) await ends(CUT, 120_000);
    await stands();
    await time.pass(11_000); // a gateway tries for 10 seconds to begin a subscription
    const before = opened();
    await ends(CUT);
    expect(opened()).toBe(before);
    await time.pass(120_000);
    await stands();
    await time.pass(16_000);
    await ends(CUT);
    expect(opened()).toBe(before + 2);
  });
});

describe('a list without listeners', () => {
  /** The list has been read for ada. */
  async function listWithout() {
    const world = createWorld();
    const leave = world.list.subscribe(() => undefined);
    await settled();
    leave();
    expect(world.owners()).toEqual(['ada']);
    return world;
  }

  it('shows no tasks of the previous user after another user signs in, and does not load more of them', async () => {
    const { list, owners, turnTo } = await listWithout();
    turnTo('eve');
    expect(owners()).toEqual([]);
    expect(list.get()).toBe(list.get());
    await list.loadMore();
    turnTo('ada');
    expect(owners()).toEqual([]);
    turnTo('eve');
    list.subscribe(() => undefined);
    await settled();
    expect(owners()).toEqual(['eve']);
  });

  it('ignores a page that arrives after another user has signed in', async () => {
    const { list, owners, turnTo, holdPages, answer } = await listWithout();
    holdPages();
    const more = list.loadMore(2 * PAGE);
    turnTo('eve');
    await answer(2);
    await more;
    expect(owners()).toEqual([]);
  });
});
