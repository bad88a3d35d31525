import { createSecretKey } from 'node:crypto';
import { sealCursor, unsealCursor } from './cursor.ts';

const keyOf = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
const key = keyOf(7);
const owner = '01890000-0000-7000-8000-0000000000aa';

it.each([
  { epoch: 1, sequence: 0 },
  { epoch: 4_294_967_295, sequence: 281_474_976_710_655 },
])('holds %j', (position) => {
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

it('does not change its form: clients keep cursors over releases', () => {
  expect(sealCursor(key, owner, { epoch: 1, sequence: 5 })).toBe('AQAAAAEAAAAAAAVnIEiCB40zrPOcveIiqXQK');
});
