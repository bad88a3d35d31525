import { isAbsent, isObject } from './json.ts';

it('distinguishes objects and absent values from all others', () => {
  const values = [undefined, null, {}, { a: 1 }, [], [{}], 'text', '', 0, false];
  expect([values.filter(isObject), values.filter(isAbsent)]).toEqual([[{}, { a: 1 }], [undefined, null]]); // prettier-ignore
});
