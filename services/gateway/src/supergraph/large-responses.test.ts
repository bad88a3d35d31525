import { createLargeResponses } from './large-responses.ts';
import type { RequestCall } from './operation.ts';

const MIB = 1024 * 1024;
/** Of a user, or without an account from an address. */
const callOf = (caller: string) => {
  const identity = caller.includes(':') ? { role: 'anonymous' } : { role: 'user', userId: caller, sessionId: 's' };
  return { identity, ip: caller } as unknown as RequestCall; // all that is read
};

/** An operation that receives responses of these sizes, and ends when the test says so. */
async function start({ run }: ReturnType<typeof createLargeResponses>, caller: string, ...sizes: number[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken: unknown[] = [];
  const over = run(callOf(caller), async (reserveLarge) => {
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
  it.each([
    ['user', 'a', 'a'],
    ['IPv6 site', '2001:db8:1:2::1', '2001:db8:1:3::1'],
  ])('have 24 MiB per %s, until their operations are over', async (_who, caller, other) => {
    const answers = createLargeResponses();
    const one = await start(answers, caller, 20 * MIB);
    const two = await start(answers, other, 5 * MIB, 4 * MIB);
    expect([one.taken, two.taken]).toEqual([[20 * MIB], [REFUSED, 4 * MIB]]);
    await one.end();
    await two.end();
    expect((await start(answers, caller, 24 * MIB)).taken).toEqual([24 * MIB]);
  });

  it('have 64 MiB for all callers together', async () => {
    const answers = createLargeResponses();
    const all = await Promise.all(['a', 'b', 'c'].map((user) => start(answers, user, 20 * MIB)));
    expect((await start(answers, 'd', 5 * MIB, 4 * MIB)).taken).toEqual([REFUSED, 4 * MIB]);
    await all[0]?.end();
    expect((await start(answers, 'e', 20 * MIB)).taken).toEqual([20 * MIB]);
  });
});
