import { isAbsent, isObject, parseJson } from './json.ts';

it('returns undefined for a text that is not JSON', () => {
  expect(['{"a":[1]}', 'null', '{"a":', ''].map(parseJson)).toEqual([{ a: [1] }, null, undefined, undefined]);
});

it('distinguishes objects and absent values from all others', () => {
  const values = [undefined, null, {}, { a: 1 }, [], [{}], 'text', '', 0, false];
  expect(values.filter(isObject)).toEqual([{}, { a: 1 }]);
  expect(values.filter(isAbsent)).toEqual([undefined, null]);
});
