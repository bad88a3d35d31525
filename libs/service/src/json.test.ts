import fc from 'fast-check';
import { asJson, isAbsent, isObject, parseJson } from './json.ts';

it('leaves of any value what JSON carries of it', () => {
  const value = fc.anything({ withDate: true, withSparseArray: true, withNullPrototype: true, withTypedArray: true });
  const property = fc.property(value, (given) => {
    const text = JSON.stringify({ given });
    expect(JSON.stringify({ given: asJson(given) })).toBe(text);
    expect(asJson({ given })).toEqual(JSON.parse(text));
  });
  fc.assert(property, { seed: 1, numRuns: 500 });
});

it('says nothing of a text that is no JSON', () => {
  expect(['{"a":[1]}', 'null', '{"a":', ''].map(parseJson)).toEqual([{ a: [1] }, null, undefined, undefined]);
});

it('tells objects and what is absent from all other values', () => {
  const values = [undefined, null, {}, { a: 1 }, [], [{}], 'text', '', 0, false];
  expect(values.filter(isObject)).toEqual([{}, { a: 1 }]);
  expect(values.filter(isAbsent)).toEqual([undefined, null]);
});

it('shares nothing with what it was given', () => {
  const given = { list: [{ a: 1 }] };
  const left = asJson(given);
  expect(left).toEqual(given);
  expect(left.list).not.toBe(given.list);
  expect(left.list[0]).not.toBe(given.list[0]);
});

it('refuses what JSON has no form for', () => {
  const circular: unknown[] = [];
  circular.push(circular);
  const itself: Record<string, unknown> = { inner: {} };
  itself['inner'] = itself;
  for (const value of [1n, { deep: [1n] }, circular, itself]) expect(() => asJson(value)).toThrow(TypeError);
});
