import type { TaskChanged } from '@taskmesh/contracts';
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
  it('gives back what a key has taken, although a newer graph weighs it otherwise', () => {
    const shares = createAccountShares(10_000);
    take(shares, 'ann', 'other');
    for (const stream of [5_000, 100].map((cost) => take(shares, 'ann', 'key', { cost }))) stream?.release();
    expect(take(shares, 'ann', 'third', { cost: 9_000 })).toBeDefined();
    expect(take(shares, 'ann', 'fourth', { cost: 1_000 })).toBeUndefined();
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

  it('give back what a waiting change has taken', () => {
    const shares = createAccountShares(0);
    const share = take(shares, 'ann', 'key');
    const change = { id: 'x'.repeat(4 * MIB) } as unknown as TaskChanged;
    for (const end of [1, 2, 3].map(() => () => undefined)) {
      expect(share?.keep(change, end)).toBe(true);
      share?.drop(change, end);
    }
    expect(shares.waiting()).toEqual([]);
  });

  it('limits what the accounts of a network keep, counting each document once, as it grows, and every set of variables', () => {
    const shares = createAccountShares(0);
    const document = documentOf(29 * MIB);
    const first = take(shares, 'ann', 'a', { document, variableCharacters: 16 * KIB });
    const second = take(shares, 'bob', 'b', { document, variableCharacters: 24 * KIB });
    expect(take(shares, 'ann', 'a', { document, variableCharacters: 9 * KIB })).toBeUndefined();
    expect(take(shares, 'eve', 'c', { document: documentOf(MIB) })).toBeUndefined();
    expect(take(shares, 'eve', 'c', { document: documentOf(MIB), network: 'other' })).toBeDefined();
    second?.release();
    expect(take(shares, 'eve', 'a', { document, variableCharacters: 9 * KIB })).toBeDefined();
    document.bytes += 2 * MIB;
    expect(take(shares, 'ann', 'a', { document })).toBeUndefined();
    first?.release();
    expect(take(shares, 'ann', 'a', { document })).toBeDefined();
    expect(take(shares, 'bob', 'b', { variableCharacters: 513 * KIB, network: 'third' })).toBeUndefined();
  });

  it('counts every subscription and channel of a network, and has room for as many sockets as it may have', () => {
    const shares = createAccountShares(0);
    const document = documentOf();
    const first = take(shares, 'ann', 'a', { document });
    const channels = Array.from({ length: 5_000 }, () => shares.takeRoom('', 60)).filter(
      (release) => release !== undefined,
    );
    expect(channels.length).toBeGreaterThan(3_900);
    expect(channels.length).toBeLessThan(4_100);
    expect(take(shares, 'bob', 'a', { document })).toBeUndefined();
    expect(shares.takeRoom('other', 60)).toBeDefined();
    first?.release();
    expect(take(shares, 'bob', 'a', { document })).toBeDefined();
    for (const release of channels) release();
    expect(take(shares, 'bob', 'b', { document: documentOf(31 * MIB) })).toBeDefined();
    const { takeRoom } = createAccountShares(0, 8_000);
    expect(Array.from({ length: 8_000 }, () => takeRoom('', 600))).not.toContain(undefined);
  });

  it('limits what all accounts keep together, and still admits networks that keep little', () => {
    const shares = createAccountShares(0);
    const document = documentOf(8 * MIB);
    const takeIn = (network: string, sent = documentOf(8 * MIB), key = 'a') =>
      take(shares, `account of ${network}`, key, { document: sent, variableCharacters: 0, network });
    const taken = Array.from({ length: 7 }, (_, index) => takeIn(`network-${index}`));
    expect(taken).not.toContain(undefined);
    document.bytes -= 9 * 8 * KIB; // what the subscriptions themselves keep
    expect([1, 2].map((index) => takeIn(`sharing-${index}`, document))).not.toContain(undefined);
    document.bytes += KIB;
    expect(takeIn('late', documentOf(2_049 * KIB))).toBeUndefined();
    expect(takeIn('late', documentOf(2_000 * KIB))).toBeDefined();
    expect(takeIn('late', documentOf(49 * KIB), 'b')).toBeUndefined();
    taken[0]?.release();
    expect(takeIn('late', documentOf(49 * KIB), 'b')).toBeDefined();
  });

  it('limits what all keep together even if one account takes the documents of the others, too, and releases them', () => {
    const shares = createAccountShares(0);
    let keptBytes = 0;
    for (let at = 0; at < 10; at++) {
      const helped = Array.from({ length: 32 }, (_, key) => {
        const claim = { document: documentOf(512 * KIB), variableCharacters: 0 };
        const held = take(shares, 'helper', `${key}`, claim);
        if (take(shares, `account-${at}`, `${key}`, { ...claim, network: `network-${at}` })) keptBytes += 512 * KIB;
        return held;
      });
      for (const held of helped) held?.release();
    }
    expect(keptBytes / MIB).toBeLessThanOrEqual(64 + 10 * 2);
  });
});
