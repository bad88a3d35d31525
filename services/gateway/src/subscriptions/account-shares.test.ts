import { createAccountShares, type AccountShares } from './account-shares.ts';

const KIB = 1024;
const take = (
  shares: AccountShares,
  account: string,
  key: string,
  claim: { cost?: number; source?: string; variableCharacters?: number } = {},
) => shares.reserve(account, { key, cost: 1, source: key, variableCharacters: 2, ...claim });

describe('the shares of accounts', () => {
  it("limits the total cost of an account's subscriptions, and counts equal ones once", () => {
    const shares = createAccountShares(10_000);
    const first = take(shares, 'ann', 'a', { cost: 4_700 });
    expect(first).toBeDefined();
    expect(take(shares, 'ann', 'b', { cost: 4_700 })).toBeDefined();
    expect(take(shares, 'ann', 'c', { cost: 1 })).toBeUndefined();
    const again = take(shares, 'ann', 'a', { cost: 4_700 });
    expect(take(shares, 'bob', 'c', { cost: 4_700 })).toBeDefined();
    first?.release();
    expect(take(shares, 'ann', 'c', { cost: 1 })).toBeUndefined();
    again?.release();
    expect(take(shares, 'ann', 'c', { cost: 4_700 })).toBeDefined();
  });

  it('runs two tasks of an account at once, in parallel with those of others', async () => {
    const shares = createAccountShares(0);
    const begun: string[] = [];
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const works = ['ann', 'ann', 'ann', 'bob'].map((account, index) =>
      take(shares, account, String(index))?.runLimited(() => (begun.push(account), end)),
    );
    await Promise.resolve();
    expect(begun.toSorted()).toEqual(['ann', 'ann', 'bob']);
    resolve();
    await Promise.all(works);
    expect(begun).toHaveLength(4);
  });

  it('limits what an account keeps, counting each document once and every set of variables', () => {
    const shares = createAccountShares(0);
    const source = 'x'.repeat(200 * KIB);
    const first = take(shares, 'ann', 'a', { source, variableCharacters: 20 * KIB });
    const second = take(shares, 'ann', 'a', { source, variableCharacters: 30 * KIB });
    expect(take(shares, 'ann', 'a', { source, variableCharacters: 10 * KIB })).toBeUndefined();
    expect(take(shares, 'ann', 'b', { variableCharacters: 10 * KIB })).toBeUndefined();
    second?.release();
    expect(take(shares, 'ann', 'a', { source, variableCharacters: 10 * KIB })).toBeDefined();
    first?.release();
    expect(take(shares, 'bob', 'b', { variableCharacters: 257 * KIB })).toBeUndefined();
  });

  it('limits the documents of all accounts together, and still admits accounts that keep little', () => {
    const shares = createAccountShares(0);
    const taken = Array.from({ length: 12 }, (_, index) =>
      take(shares, `account-${index}`, 'a', { source: `${index}`.padEnd(128 * KIB) }),
    );
    expect(taken).not.toContain(undefined);
    expect(take(shares, 'late', 'b', { source: 'x'.repeat(9 * KIB) })).toBeUndefined();
    const shared = take(shares, 'late', 'a', { source: '0'.padEnd(128 * KIB) }); // it is there already
    expect(shared).toBeDefined();
    shared?.release();
    expect(take(shares, 'late', 'b', { source: 'x'.repeat(7 * KIB) })).toBeDefined();
    taken[0]?.release();
    expect(take(shares, 'late', 'c', { source: 'y'.repeat(9 * KIB) })).toBeDefined();
  });
});
