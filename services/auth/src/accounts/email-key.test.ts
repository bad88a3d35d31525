import { emailKey } from './email-key.ts';

it.each([
  ['Ada@Example.COM', 'ada@example.com'],
  [' ada@example.com\t', 'ada@example.com'],
  ['ÉMILE@example.com', 'émile@example.com'],
  ['e\u0301mile@example.com', 'émile@example.com'],
  ['ada+tag@example.com', 'ada+tag@example.com'],
  ['"a b"@example.com', '"a b"@example.com'],
  ['ΣΟΦΟΣ@example.com', 'σοφος@example.com'],
  // These may be different mailboxes.
  ...['σοφοσ@example.com', 'ａda@example.com', 'a\u00adda@example.com', 'straße@example.com'].map((email) => [
    email,
    email,
  ]),
])('the key of the address %j is %j', (email = '', key = '') => expect(emailKey(email)).toBe(key));

it.each(['a\0@b.c', '\ud800@b.c'])('%j, which cannot be stored, has none', (email) => {
  expect(emailKey(email)).toBeUndefined();
});
