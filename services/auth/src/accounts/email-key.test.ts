import { emailKey } from './email-key.ts';

describe('emailKey', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' ada@example.com\t', 'ada@example.com'],
    ['ÉMILE@example.com', 'émile@example.com'],
    ['e\u0301mile@example.com', 'émile@example.com'],
    ['ada+tag@example.com', 'ada+tag@example.com'],
    ['"a b"@example.com', '"a b"@example.com'],
    ['ΣΟΦΟΣ@example.com', 'σοφος@example.com'],
  ])('maps %j to %j', (email, key) => {
    expect(emailKey(email)).toBe(key);
  });

  it.each([
    ['σοφοσ@example.com', 'σοφος@example.com'],
    ['ａda@example.com', 'ada@example.com'],
    ['a\u00adda@example.com', 'ada@example.com'],
    ['straße@example.com', 'strasse@example.com'],
  ])('distinguishes %j from %j: they may be different mailboxes', (one, other) => {
    expect(emailKey(one)).not.toBe(emailKey(other));
  });

  it.each([['a\0@b.c'], ['\ud800@b.c']])('returns undefined for %j, which cannot be stored', (email) => {
    expect(emailKey(email)).toBeUndefined();
  });
});
