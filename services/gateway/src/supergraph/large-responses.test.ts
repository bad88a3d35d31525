import { createLargeResponses } from './large-responses.ts';

const MIB = 1024 * 1024;
/** An operation that receives responses of these sizes, and ends when the test says so. */
async function start({ run }: ReturnType<typeof createLargeResponses>, ip: string, ...sizes: number[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const outcomes: unknown[] = [];
  const done = run({ ip }, async (reserveLarge) => {
    for (const bytes of sizes)
      try {
        reserveLarge(bytes);
        outcomes.push(bytes);
      } catch (error) {
        outcomes.push(error);
      }
    await promise;
  });
  return { outcomes, end: () => (resolve(), done) };
}

const REFUSED = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });

describe('large responses of services', () => {
  it.each([
    ['address', '192.0.2.1', '192.0.2.1'],
    ['IPv6 site', '2001:db8:1:2::1', '2001:db8:1:3::1'],
  ])('have 24 MiB per %s, until their operations are done', async (_where, ip, other) => {
    const responses = createLargeResponses();
    const one = await start(responses, ip, 20 * MIB);
    const two = await start(responses, other, 5 * MIB, 4 * MIB);
    expect([one.outcomes, two.outcomes]).toEqual([[20 * MIB], [REFUSED, 4 * MIB]]);
    await one.end();
    expect((await start(responses, ip, 20 * MIB + 1)).outcomes).toEqual([REFUSED]);
    await two.end();
    expect((await start(responses, ip, 24 * MIB)).outcomes).toEqual([24 * MIB]);
  });

  it('have 64 MiB for all addresses together', async () => {
    const responses = createLargeResponses();
    const all = await Promise.all([1, 2, 3].map((at) => start(responses, `192.0.2.${at}`, 20 * MIB)));
    expect((await start(responses, '192.0.2.4', 5 * MIB, 4 * MIB)).outcomes).toEqual([REFUSED, 4 * MIB]);
    await all[0]?.end();
    expect((await start(responses, '192.0.2.5', 20 * MIB)).outcomes).toEqual([20 * MIB]);
  });

  it('have 2 MiB per address, however much the others hold', async () => {
    const responses = createLargeResponses();
    await Promise.all([1, 2, 3].map((at) => start(responses, `192.0.2.${at}`, 21 * MIB)));
    for (const ip of ['192.0.2.4', '192.0.2.5'])
      expect((await start(responses, ip, 1.5 * MIB, MIB, MIB / 2)).outcomes).toEqual([1.5 * MIB, REFUSED, MIB / 2]);
    expect((await start(responses, '192.0.2.1', MIB / 2)).outcomes).toEqual([REFUSED]);
    const others = Array.from({ length: 40 }, (_, at) => start(responses, `192.0.3.${at}`, 2 * MIB));
    const isRefused = (await Promise.all(others)).map(({ outcomes: [first] }) => first !== 2 * MIB);
    expect(isRefused.lastIndexOf(false)).toBe(29); // 63 + 2 * 2 + 30 * 2 MiB
  });
});
