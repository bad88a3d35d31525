import { createLargeResponses } from './large-responses.ts';

const MIB = 1024 * 1024;
/** An operation that receives responses of these sizes, and ends when the test says so. */
async function start({ run }: ReturnType<typeof createLargeResponses>, ip: string, ...sizes: number[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken: unknown[] = [];
  const over = run({ ip }, async (reserveLarge) => {
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
    ['address', '192.0.2.1', '192.0.2.1'],
    ['IPv6 site', '2001:db8:1:2::1', '2001:db8:1:3::1'],
  ])('have 24 MiB per %s, until their operations are over', async (_where, ip, other) => {
    const answers = createLargeResponses();
    const one = await start(answers, ip, 20 * MIB);
    const two = await start(answers, other, 5 * MIB, 4 * MIB);
    expect([one.taken, two.taken]).toEqual([[20 * MIB], [REFUSED, 4 * MIB]]);
    await one.end();
    expect((await start(answers, ip, 20 * MIB + 1)).taken).toEqual([REFUSED]);
    await two.end();
    expect((await start(answers, ip, 24 * MIB)).taken).toEqual([24 * MIB]);
  });

  it('have 64 MiB for all addresses together', async () => {
    const answers = createLargeResponses();
    const all = await Promise.all([1, 2, 3].map((at) => start(answers, `192.0.2.${at}`, 20 * MIB)));
    expect((await start(answers, '192.0.2.4', 5 * MIB, 4 * MIB)).taken).toEqual([REFUSED, 4 * MIB]);
    await all[0]?.end();
    expect((await start(answers, '192.0.2.5', 20 * MIB)).taken).toEqual([20 * MIB]);
  });

  it('have 2 MiB per address, however much the others hold', async () => {
    const answers = createLargeResponses();
    await Promise.all([1, 2, 3].map((at) => start(answers, `192.0.2.${at}`, 21 * MIB)));
    for (const ip of ['192.0.2.4', '192.0.2.5'])
      expect((await start(answers, ip, 1.5 * MIB, MIB, MIB / 2)).taken).toEqual([1.5 * MIB, REFUSED, MIB / 2]);
    expect((await start(answers, '192.0.2.1', MIB / 2)).taken).toEqual([REFUSED]);
    const others = Array.from({ length: 40 }, (_, at) => start(answers, `192.0.3.${at}`, 2 * MIB));
    const isRefused = (await Promise.all(others)).map(({ taken: [first] }) => first !== 2 * MIB);
    expect(isRefused.lastIndexOf(false)).toBe(29); // 63 + 2 * 2 + 30 * 2 MiB
  });
});
