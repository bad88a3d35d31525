import { createHmac, createSecretKey } from 'node:crypto';
import { sealCursor, unsealCursor } from './signed-cursor.ts';

const keyOf = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
const key = keyOf(7);
const owner = '01890000-0000-7000-8000-0000000000aa';

it.each([
  { epoch: 1, sequence: 0 },
  { epoch: 4_294_967_295, sequence: 281_474_976_710_655 },
])('encodes %j', (position) => {
  const cursor = sealCursor(key, owner, position);
  expect(cursor).toMatch(/^[\w-]{36}$/);
  expect(unsealCursor(key, owner, cursor)).toEqual(position);
  expect(unsealCursor(key, owner.toUpperCase(), cursor)).toEqual(position);
});

it('does not open with another key or for another owner', () => {
  const cursor = sealCursor(key, owner, { epoch: 1, sequence: 5 });
  expect(unsealCursor(keyOf(8), owner, cursor)).toBeUndefined();
  expect(unsealCursor(key, owner.replace('aa', 'ab'), cursor)).toBeUndefined();
});

it('does not open if it is truncated or extended', () => {
  const cursor = sealCursor(key, owner, { epoch: 1, sequence: 5 });
  for (let length = 0; length < cursor.length; length++)
    expect(unsealCursor(key, owner, cursor.slice(0, length))).toBeUndefined();
  for (const more of ['A', '=', '\n', 'AAAA', cursor]) expect(unsealCursor(key, owner, cursor + more)).toBeUndefined();
});

it('has only one encoding', () => {
  const cursors = Array.from({ length: 50 }, (_, sequence) => sealCursor(key, owner, { epoch: 1, sequence }));
  const spelled = cursors.filter((cursor) => /[-_]/.test(cursor));
  expect(spelled.length).toBeGreaterThan(0);
  for (const cursor of spelled)
    expect(unsealCursor(key, owner, cursor.replaceAll('-', '+').replaceAll('_', '/'))).toBeUndefined();
  for (const character of ['=', '!', ' ', '\n', 'é'])
    expect(unsealCursor(key, owner, `${cursors[0]?.slice(1)}${character}`)).toBeUndefined();
});

it('does not open in another format, which a later release may use with the same key', () => {
  const later = Buffer.from(sealCursor(key, owner, { epoch: 1, sequence: 5 }), 'base64url');
  const reseal = () => {
    createHmac('sha256', key).update(later.subarray(0, 11)).update(owner).digest().copy(later, 11, 0, 16);
    return later.toString('base64url');
  };
  expect(unsealCursor(key, owner, reseal())).toEqual({ epoch: 1, sequence: 5 });
  later[0] = 2;
  expect(unsealCursor(key, owner, reseal())).toBeUndefined();
});

it('keeps its form, because clients keep cursors across releases', () => {
  expect(sealCursor(key, owner, { epoch: 1, sequence: 5 })).toBe('AQAAAAEAAAAAAAVnIEiCB40zrPOcveIiqXQK');
});
