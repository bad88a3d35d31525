import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLargeAnswers } from './large-answers.ts';
import type { RequestCall } from './operation.ts';

const MIB = 1024 * 1024;
const started: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((end) => end()));
});

const callOf = (userId: string) =>
  ({ identity: { role: 'user', userId, sessionId: 's' }, ip: '192.0.2.1' }) as unknown as RequestCall; // all that is read

/** An operation that gets an answer of so many bytes, and is over when the test says so. */
function start({ run }: ReturnType<typeof createLargeAnswers>, userId: string, bytes: number) {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const state = { hasAnswer: false, end };
  const over = run(callOf(userId), async (takeLarge) => {
    await takeLarge(bytes);
    state.hasAnswer = true;
    await promise;
  });
  started.push(async () => {
    end();
    await over;
  });
  return state;
}

const settled = async () => {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
};

describe('large answers of services', () => {
  it.each([
    ['huge ones one', 3 * MIB, 1],
    ['others eight', MIB, 8],
  ])('are worked on a few at a time, until their operations are over: %s', async (_what, bytes, atOnce) => {
    const answers = createLargeAnswers();
    const all = Array.from({ length: 10 }, () => start(answers, 'a', bytes));
    await settled();
    expect(all.filter(({ hasAnswer }) => hasAnswer)).toHaveLength(atOnce);
    all[0]?.end();
    await settled();
    expect(all.filter(({ hasAnswer }) => hasAnswer)).toHaveLength(atOnce + 1);
  });

  it('are the turn of each account, however many of another wait', async () => {
    const answers = createLargeAnswers();
    const [first, second, third, ofAnother] = ['a', 'a', 'a', 'b'].map((user) => start(answers, user, 3 * MIB));
    first?.end();
    await settled();
    second?.end();
    await settled();
    expect([third?.hasAnswer, ofAnother?.hasAnswer]).toEqual([false, true]);
  });

  it('of one operation are one turn', async () => {
    const answers = createLargeAnswers();
    await answers.run(callOf('a'), async (takeLarge) => {
      await Promise.all([takeLarge(3 * MIB), takeLarge(3 * MIB)]);
      await takeLarge(3 * MIB);
    });
    await answers.run(callOf('b'), (takeLarge) => takeLarge(3 * MIB));
  });
});
