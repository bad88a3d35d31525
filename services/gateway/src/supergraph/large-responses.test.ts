import { createLargeResponses } from './large-responses.ts';
import type { RequestCall } from './operation.ts';

const MIB = 1024 * 1024;
const callOf = (userId: string) =>
  ({ identity: { role: 'user', userId, sessionId: 's' }, ip: '192.0.2.1' }) as unknown as RequestCall; // all that is read

/** An operation that receives responses of these sizes, and ends when the test says so. */
async function start({ run }: ReturnType<typeof createLargeResponses>, userId: string, ...sizes: number[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken: unknown[] = [];
  const over = run(callOf(userId), async (reserveLarge) => {
    for (const bytes of sizes)
      try {
        reserveLarge(bytes);
        taken.push(bytes);
      } catch (error) {
        taken.push(error);
      }
    await promise;
  });
  return { taken, end: () => (resolve(), over) };
}

const REFUSED = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

describe('large responses of services', () => {
  it('have 24 MiB per caller, until their operations are over', async () => {
    const answers = createLargeResponses();
    const one = await start(answers, 'a', 20 * MIB);
    const two = await start(answers, 'a', 5 * MIB, 4 * MIB);
    expect([one.taken, two.taken]).toEqual([[20 * MIB], [REFUSED, 4 * MIB]]);
    await one.end();
    await two.end();
    expect((await start(answers, 'a', 24 * MIB)).taken).toEqual([24 * MIB]);
  });

  it('have 64 MiB for all callers together', async () => {
    const answers = createLargeResponses();
    const all = await Promise.all(['a', 'b', 'c'].map((user) => start(answers, user, 20 * MIB)));
    expect((await start(answers, 'd', 5 * MIB, 4 * MIB)).taken).toEqual([REFUSED, 4 * MIB]);
    await all[0]?.end();
    expect((await start(answers, 'e', 20 * MIB)).taken).toEqual([20 * MIB]);
  });
});
