import { cpuMs } from './cpu-ms.ts';
import { RepresentationBatch } from '../src/execution/representation-batch.ts';
import { compileRepresentations } from '../src/execution/representations.ts';

const gather = (fields: readonly string[], objects: readonly Record<string, unknown>[]) => {
  const selections = ['__typename', ...fields].map((name) => ({ kind: 'Field' as const, name }));
  const requires = [{ kind: 'InlineFragment' as const, typeCondition: 'Item', selections }];
  const gathering = new RepresentationBatch(compileRepresentations({ requires }, (name, of) => name === of));
  const { places } = gathering.add(objects.map((object) => ({ __typename: 'Item', ...object })));
  const asked = JSON.parse(`[${gathering.text}]`) as Record<string, unknown>[];
  expect(asked).toHaveLength(gathering.count);
  // Each object's representation has the object's own values, whatever is shared.
  const given = places.map((place) => fields.map((field) => asked[place]?.[field]));
  expect(given).toEqual(JSON.parse(JSON.stringify(objects.map((object) => fields.map((field) => object[field])))));
  return gathering.count;
};

const VALUES = ['1', 1, '', 'null', null, true, 'true', [1], '[1]', ['1'], { a: 1 }, '{"a":1}', { a: null }, {}, '{}'];

it.each([
  ['the first field', ['key', 'other']],
  ['another one', ['other', 'key']],
  ['the only one', ['key']],
])('objects of different values are never taken for each other: %s', (_what, fields) => {
  const objects = [...VALUES, ...VALUES].map((key) => ({ key, other: 'same' }));
  expect(gather(fields, objects)).toBe(VALUES.length);
});

describe('objects that have their first field in common', () => {
  const gatherMany = () => {
    const objects = Array.from({ length: 60_000 }, (_, index) => ({ owner: 'one', id: String(index % 30_000) }));
    return gather(['owner', 'id'], objects);
  };

  it('are asked about once each', () => {
    expect(gatherMany()).toBe(30_000);
  });

  it('take no time that grows with the square of their number', async () => {
    const begun = cpuMs();
    gatherMany();
    expect(cpuMs() - begun).toBeLessThan(5_000);
  });
});
