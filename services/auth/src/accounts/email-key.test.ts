import { emailKey } from './email-key.ts';

describe('the key of an e-mail address', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' ada@example.com\t', 'ada@example.com'],
    ['ÉMILE@example.com', 'émile@example.com'],
    ['e\u0301mile@example.com', 'émile@example.com'],
    ['ada+tag@example.com', 'ada+tag@example.com'],
    ['"a b"@example.com', '"a b"@example.com'],
    ['ΣΟΦΟΣ@example.com', 'σοφος@example.com'],
  ])('of %j is %j', (email, key) => {
    expect(emailKey(email)).toBe(key);
  });

  it.each([
    ['σοφοσ@example.com', 'σοφος@example.com'],
    ['ａda@example.com', 'ada@example.com'],
    ['a\u00adda@example.com', 'ada@example.com'],
    ['straße@example.com', 'strasse@example.com'],
  ])('of %j is not that of %j: they may be different mailboxes', (one, other) => {
    expect(emailKey(one)).not.toBe(emailKey(other));
  });

  it.each([['a\0@b.c'], ['\ud800@b.c']])('does not exist for %j, which cannot be stored', (email) => {
    expect(emailKey(email)).toBeUndefined();
  });
});
