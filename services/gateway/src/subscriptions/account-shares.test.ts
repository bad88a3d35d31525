import { createAccountShares, type AccountShares } from './account-shares.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const documentOf = (bytes = 0) => ({ bytes });
const take = (
  shares: AccountShares,
  account: string,
  key: string,
  claim: Partial<Parameters<AccountShares['reserve']>[1]> = {},
) => shares.reserve(account, { key, cost: 1, document: documentOf(), variableCharacters: 2, network: '', ...claim });

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

  it('limits what an account keeps, counting each document once, as it grows, and every set of variables', () => {
    const shares = createAccountShares(0);
    const document = documentOf(13 * MIB);
    const first = take(shares, 'ann', 'a', { document, variableCharacters: 16 * KIB });
    const second = take(shares, 'ann', 'b', { document, variableCharacters: 24 * KIB });
    expect(take(shares, 'ann', 'a', { document, variableCharacters: 9 * KIB })).toBeUndefined();
    expect(take(shares, 'ann', 'c', { document: documentOf(MIB) })).toBeUndefined();
    second?.release();
    expect(take(shares, 'ann', 'a', { document, variableCharacters: 9 * KIB })).toBeDefined();
    document.bytes += 2 * MIB;
    expect(take(shares, 'ann', 'a', { document })).toBeUndefined();
    first?.release();
    expect(take(shares, 'ann', 'a', { document })).toBeDefined();
    expect(take(shares, 'bob', 'b', { variableCharacters: 257 * KIB })).toBeUndefined();
  });

  it('limits what all accounts keep together, and still admits accounts that keep little', () => {
    const shares = createAccountShares(0);
    const document = documentOf(8 * MIB);
    const taken = Array.from({ length: 7 }, (_, index) =>
      take(shares, `account-${index}`, 'a', { document: documentOf(8 * MIB), variableCharacters: 0 }),
    );
    expect(taken).not.toContain(undefined);
    const shared = [1, 2].map((index) => take(shares, `sharing-${index}`, 'a', { document, variableCharacters: 0 }));
    expect(shared).not.toContain(undefined);
    document.bytes += KIB;
    expect(take(shares, 'late', 'b', { document: documentOf(513 * KIB) })).toBeUndefined();
    expect(take(shares, 'late', 'b', { document: documentOf(510 * KIB) })).toBeDefined();
    expect(take(shares, 'shares', 'a', { document })).toBeDefined();
    expect(take(shares, 'shares', 'b', { document: documentOf(513 * KIB) })).toBeUndefined();
    taken[0]?.release();
    expect(take(shares, 'late', 'c', { document: documentOf(513 * KIB) })).toBeDefined();
  });
});
