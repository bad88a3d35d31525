import { TaskmeshError } from '../src/errors.ts';
import type { FeedEnd, FeedListener } from '../src/feed/feed.ts';
import type { Post } from '../src/http.ts';
import { createManualTime, settled } from './support/manual-time.ts';
import { createLiveTasks, type LiveTasksDeps, type LiveTasksOptions } from '../src/list/live-tasks.ts';

interface BareListDeps extends Partial<Pick<LiveTasksDeps, 'openFeed' | 'time'>> {
  session: Partial<LiveTasksDeps['session']>;
  hold?: LiveTasksDeps['writes']['hold'];
}

/** A list without a client: its user stays signed in, its feed connects at once, and there are no writes. */
function createBareList(
  options: LiveTasksOptions,
  { session, hold = async () => () => undefined, ...deps }: BareListDeps,
) {
  return createLiveTasks(options, {
    session: {
      user: () => ({ id: 'ada', email: '', name: '' }),
      subscribe: () => () => undefined,
      request: (() => Promise.reject(new Error('nothing is read'))) as Post,
      refresh: async () => 'fresh',
      ...session,
    },
    writes: {
      pending: () => [],
      subscribe: () => () => undefined,
      confirm: () => undefined,
      wake: () => undefined,
      hold,
    },
    openFeed(_variables, listener) {
      listener.onSubscribed();
      return () => undefined;
    },
    time: createManualTime(),
    onWake: () => () => undefined,
    ...deps,
  });
}

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

describe('a list that reads many pages', () => {
  /** The test decides when each page is returned. */
  function createWorld() {
    const asked: (string | null)[] = [];
    const waiting: (() => void)[] = [];
    let holds = 0;
    const time = createManualTime();
    let end: FeedListener['onEnd'] = () => {};
    const request = (async (_document: string, { after }: { after: string | null }) => {
      asked.push(after);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return pageOf('ada', after);
    }) as unknown as Post;
    const list = createBareList(
      { first: PAGE },
      {
        session: { request },
        async hold() {
          holds += 1;
          return () => void (holds -= 1);
        },
        openFeed(_variables, listener) {
          end = listener.onEnd;
          listener.onSubscribed();
          return () => undefined;
        },
        time,
      },
    );
    /** Returns this many pages, in the order of their requests. */
    const answer = async (times: number, take = () => waiting.shift()) => {
      for (let each = 0; each < times; each++) {
        await settled();
        take()?.();
      }
      await settled();
    };
    /** Expires the cursor, so that the list is read again. */
    const expire = async () => {
      end({ reason: 'expired' });
      await time.pass(1);
    };
    const answerLast = () => answer(1, () => waiting.pop());
    return { list, asked, answer, answerLast, holds: () => holds, expire, shown: () => list.get().tasks.length };
  }

  it('stops reading when its last listener leaves, and stops holding writes', async () => {
    const { list, asked, answer, holds, expire } = createWorld();
    const leave = list.subscribe(() => undefined);
    await answer(1);
    const more = list.loadMore(4 * PAGE);
    await answer(4);
    await more;
    await expire();
    await answer(1);
    const before = asked.length;
    expect(holds()).toBe(1);
    leave();
    await answer(3);
    expect(asked.length - before).toBeLessThanOrEqual(1);
    expect(holds()).toBe(0);
  });

  it('reloads as many tasks as it had, including pages loaded during the reload', async () => {
    const { list, answer, answerLast, expire, shown } = createWorld();
    list.subscribe(() => undefined);
    await answer(1);
    await expire();
    // More of the old list is loaded while the first page is being read again.
    const more = list.loadMore();
    await answerLast();
    await more;
    expect(shown()).toBe(2 * PAGE);
    await answer(2);
    expect([list.get().status, shown()]).toEqual(['live', 2 * PAGE]);
  });
});

it('recovers with growing pauses when the first reads are rejected despite fresh tokens', async () => {
  const time = createManualTime();
  const readAt: number[] = [];
  const request = (async () => {
    readAt.push(time.now());
    if (readAt.length <= 5) throw new TaskmeshError('UNAUTHENTICATED', 'a fresh token is refused');
    return pageOf('ada', null);
  }) as unknown as Post;
  const list = createBareList({ first: PAGE }, { session: { request }, time });
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

describe('a list that follows its feed', () => {
  const CUT: FeedEnd = { reason: 'cut', retryAfterMs: 0 };

  async function createWorld() {
    const time = createManualTime();
    let userId: string | undefined = 'ada';
    let opened = 0;
    let feed: FeedListener | undefined;
    const openFeed = (_variables: object, listener: FeedListener) => {
      [feed, opened] = [listener, opened + 1];
      return () => undefined;
    };
    const user = () => (userId === undefined ? null : { id: userId, email: '', name: '' });
    const request = (async () => pageOf('ada', null)) as unknown as Post;
    const list = createBareList({ first: PAGE }, { session: { user, request }, openFeed, time });
    const statuses: string[] = [list.get().status];
    const leave = list.subscribe(() => void statuses.push(list.get().status));
    await settled();
    const stands = async () => (feed?.onSubscribed(), time.pass(2_000));
    const ends = async (end: FeedEnd, ms = 2_000) => (feed?.onEnd(end), time.pass(ms));
    const signOut = () => (userId = undefined);
    return { list, time, statuses, leave, stands, ends, signOut, opened: () => opened };
  }

  it('reports its status', async () => {
    const { list, statuses, leave, stands, ends, signOut } = await createWorld();
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
    signOut();
    list.subscribe(() => undefined);
    expect(list.get().status).toBe('signed-out');
  });

  it('resets the count of failures only after a connection has lasted', async () => {
    const { time, stands, ends, opened } = await createWorld();
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
  async function createWorld() {
    let userId = 'ada';
    let held: Promise<void> | undefined;
    const listeners = new Set<() => void>();
    const request = (async (_document: string, { after }: { after: string | null }) => {
      const owner = userId;
      await held;
      return pageOf(owner, after);
    }) as unknown as Post;
    const user = () => ({ id: userId, email: '', name: '' });
    const subscribe = (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
    const list = createBareList({ first: PAGE }, { session: { user, subscribe, request } });
    const owners = () => [...new Set(list.get().tasks.map(({ id }) => id.split(' ')[0]))];
    const leave = list.subscribe(() => undefined);
    await settled();
    leave();
    expect(owners()).toEqual(['ada']);
    return {
      list,
      owners,
      turnTo(next: string) {
        userId = next;
        for (const listener of listeners) listener();
      },
      /** Delays pages until the promise resolves. */
      hold: (until: Promise<void>) => void (held = until),
    };
  }

  it('shows no tasks of the previous user after another user signs in', async () => {
    const { list, owners, turnTo } = await createWorld();
    turnTo('eve');
    expect(owners()).toEqual([]);
    expect(list.get()).toBe(list.get());
    list.subscribe(() => undefined);
    await settled();
    expect(owners()).toEqual(['eve']);
  });

  it('does not load more of the previous user’s list', async () => {
    const { list, owners, turnTo } = await createWorld();
    turnTo('eve');
    await list.loadMore();
    turnTo('ada');
    expect(owners()).toEqual([]);
  });

  it('ignores a page that arrives after another user has signed in', async () => {
    const { list, owners, turnTo, hold } = await createWorld();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    hold(promise);
    const more = list.loadMore(2 * PAGE);
    turnTo('eve');
    release();
    await more;
    expect(owners()).toEqual([]);
  });
});
