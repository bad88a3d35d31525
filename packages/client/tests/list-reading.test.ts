import type { FeedListener } from '../src/feed/feed.ts';
import type { Post } from '../src/http.ts';
import { createLiveTasks } from '../src/list/live-tasks.ts';
import { createManualTime, settled } from './support/manual-time.ts';
import { noWrites } from './support/no-writes.ts';

const PAGE = 2;
/** The server gives no more at once. */
const LARGEST = 2;

/** A server with many tasks, which answers a page when the test says so. */
function createWorld() {
  const asked: (string | null)[] = [];
  const waiting: (() => void)[] = [];
  let holds = 0;
  const time = createManualTime();
  let end: FeedListener['onEnd'] = () => {};
  const request = (async (_document: string, { after, first }: { after: string | null; first: number }) => {
    asked.push(after);
    await new Promise<void>((resolve) => waiting.push(resolve));
    const from = Number(after ?? 0);
    const count = Math.min(first, LARGEST);
    const nodes = Array.from({ length: count }, (_, index) => ({
      id: String(from + index),
      createdAt: String(99 - from - index),
      version: 1,
    }));
    const pageInfo = { hasNextPage: true, endCursor: String(from + count) };
    return { tasks: { edges: nodes.map((node) => ({ node })), pageInfo, totalCount: 50, changesCursor: 'c' } };
  }) as unknown as Post;
  const list = createLiveTasks(
    { first: PAGE },
    {
      session: {
        user: () => ({ id: 'ada', email: '', name: '' }),
        subscribe: () => () => undefined,
        request,
        refresh: async () => undefined,
      },
      writes: {
        ...noWrites,
        hold() {
          holds += 1;
          return () => void (holds -= 1);
        },
      },
      openFeed(_variables, listener) {
        end = listener.onEnd;
        listener.onStanding();
        return () => undefined;
      },
      time,
      onWake: () => () => undefined,
    },
  );
  /** Answers so many pages, in the order in which they were asked for. */
  const answer = async (times: number) => {
    for (let each = 0; each < times; each++) {
      await settled();
      waiting.shift()?.();
    }
    await settled();
  };
  const answerLast = async () => {
    await settled();
    waiting.pop()?.();
    await settled();
  };
  /** The list is read again from then on. */
  const expire = async () => {
    end({ reason: 'expired' });
    await time.pass(1);
  };
  return { list, asked, answer, answerLast, holds: () => holds, expire, shown: () => list.get().tasks.length };
}

it('a list that is left while it reads many pages reads no further, and holds up no write', async () => {
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

it('a list that is read again has as many tasks as it had, also those that were added meanwhile', async () => {
  const { list, answer, answerLast, expire, shown } = createWorld();
  list.subscribe(() => undefined);
  await answer(1);
  await expire();
  // The first page is on its way again when somebody gets more of the former ones.
  const more = list.loadMore();
  await answerLast();
  await more;
  expect(shown()).toBe(2 * PAGE);
  await answer(2);
  expect([list.get().status, shown()]).toEqual(['live', 2 * PAGE]);
});
