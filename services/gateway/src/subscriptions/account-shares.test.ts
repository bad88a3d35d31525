import { createAccountShares } from './account-shares.ts';

describe('the shares of accounts', () => {
  it('limits what the different subscriptions of an account cost together, and counts equal ones once', () => {
    const shares = createAccountShares(10_000);
    const first = shares.take('ann', 'a', 4_700);
    expect(first).toBeDefined();
    expect(shares.take('ann', 'b', 4_700)).toBeDefined();
    expect(shares.take('ann', 'c', 1)).toBeUndefined();
    const again = shares.take('ann', 'a', 4_700);
    expect(shares.take('bob', 'c', 4_700)).toBeDefined();
    first?.release();
    expect(shares.take('ann', 'c', 1)).toBeUndefined();
    again?.release();
    expect(shares.take('ann', 'c', 4_700)).toBeDefined();
  });

  it('runs two works of an account at once, beside those of others', async () => {
    const shares = createAccountShares(0);
    const begun: string[] = [];
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const works = ['ann', 'ann', 'ann', 'bob'].map((account, index) =>
      shares.take(account, String(index), 1)?.inTurn(() => (begun.push(account), end)),
    );
    await Promise.resolve();
    expect(begun.toSorted()).toEqual(['ann', 'ann', 'bob']);
    resolve();
    await Promise.all(works);
    expect(begun).toHaveLength(4);
  });
});
