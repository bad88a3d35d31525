import { collectGarbage } from '@taskmesh/testing';
import { parse } from 'graphql';
import { createFederatedExecutor, type SubgraphAnswer } from '../src/index.ts';
import { cpuMs } from './cpu-ms.ts';
import { graphOf, runOn } from './world.ts';

const graph = graphOf({
  one: `
    type Query { thing: Thing things: [Thing!] named: Named hidden: Hidden strict: Thing! sure: Int! some: [Thing] }
    type Mutation { first: Thing second: Thing! }
    interface Named { name: String }
    type Thing implements Named @key(fields: "id") {
      id: ID! name: String count: Int size: Float on: Boolean color: Color any: Any constructor: String again: Thing
    }
    type Secret implements Named @inaccessible { name: String }
    enum Color { RED SECRET @inaccessible }
    type Hidden { color: Color }
    scalar Any
  `,
  two: `
    type Thing @key(fields: "id") {
      id: ID! other: String must: Int! sure: Int! toString: String inside: Any members: [Member]
    }
    type Member @key(fields: "id") { id: ID! }
    scalar Any
  `,
  three: `
    type Member @key(fields: "id") { id: ID! of: [Thing] }
    type Thing @key(fields: "id") { id: ID! }
  `,
});

/** The client's result of an operation, given the services' responses in turn. */
async function resultOf(source: string, ...answers: (SubgraphAnswer | Error)[]) {
  const { data, ...failures } = await runOn(graph, source, async () => {
    const answer = answers.shift();
    if (!answer || answer instanceof Error) throw answer ?? new Error('no one asks more');
    return structuredClone(answer);
  });
  return { text: JSON.stringify(data), ...failures };
}

/** The same for `{ thing { … } }`. */
async function thingOf(selection: string, thing: unknown) {
  const { text, incomplete } = await resultOf(`{ thing { ${selection} } }`, { data: { thing } } as SubgraphAnswer);
  return { text, incomplete };
}

/** A response whose object the next service can resolve. */
const THING = { data: { thing: { __typename: 'Thing', id: '1' } } };

describe('values', () => {
  it.each([
    ['count', 2 ** 31 - 1, '2147483647'],
    ['count', -0, '0'],
    ['size', 1e300, '1e+300'],
    ['on', false, 'false'],
    ['color', 'RED', '"RED"'],
    ['id', 7, '"7"'],
    ['name', 'a "b" \\ \u0007 \ud800', '"a \\"b\\" \\\\ \\u0007 \\ud800"'],
    ['any', { a: [1, null, '"'] }, '{"a":[1,null,"\\""]}'],
    ['name', null, 'null'],
    ['constructor', undefined, 'null'],
  ])('returns %s: %j', async (field, value, expected) => {
    expect(await thingOf(field, { [field]: value })).toEqual({
      text: `{"thing":{"${field}":${expected}}}`,
      incomplete: [],
    });
  });

  it.each([
    ['count', 2 ** 31],
    ['count', 1.5],
    ['count', '1'],
    ['size', '1'],
    ['on', 1],
    ['name', 1],
    ['name', { toString: 'x' }],
    ['color', 'SECRET'],
    ['color', 'BLUE'],
    ['any', Infinity],
    ['again', []],
    ['again', 'text'],
  ])('returns null for an invalid %s: %j', async (field, value) => {
    const selection = field === 'again' ? 'again { id }' : field;
    expect(await thingOf(selection, { [field]: value })).toEqual({
      text: `{"thing":{"${field}":null}}`,
      incomplete: [{ message: expect.stringContaining(`field Thing.${field}.`), path: ['thing', field] }],
    });
  });

  it('propagate a null to the nearest nullable field', async () => {
    expect(await thingOf('id again { key: id }', { id: '1', again: { id: {} } })).toEqual({
      text: '{"thing":{"id":"1","again":null}}',
      incomplete: [{ message: 'Invalid value found for field Thing.id.', path: ['thing', 'again', 'key'] }],
    });
    expect(await resultOf('{ things { id } }', { data: { things: [{ id: '1' }, null] } })).toMatchObject({
      text: '{"things":null}',
      incomplete: [{ path: ['things', 1] }],
    });
    expect(await resultOf('{ strict { id } }', { data: {} })).toMatchObject({
      text: 'null',
      incomplete: [{ path: ['strict'] }],
    });
  });

  it('are null if clients do not know their type, and may have any response key', async () => {
    const secret = { data: { named: { __typename: 'Secret', name: 'x' } } };
    expect(await resultOf('{ named { __typename name } }', secret)).toMatchObject({
      text: '{"named":null}',
      incomplete: [{ message: 'Invalid __typename found for object at field Query.named.' }],
    });
    const keyed = await thingOf('__proto__: name constructor: id toString: count', { name: 'n', id: '1', count: 2 });
    expect(keyed).toEqual({ text: '{"thing":{"__proto__":"n","constructor":"1","toString":2}}', incomplete: [] });
  });
});

describe('failures', () => {
  it('are reported at the fields that an unavailable service should have returned', async () => {
    const cause = new Error('away');
    expect(await resultOf('{ thing { id other } }', THING, cause)).toEqual({
      text: '{"thing":{"id":"1","other":null}}',
      errors: [
        { message: 'The request to the service "two" failed.', service: 'two', cause, path: ['thing', 'other'] },
      ],
      incomplete: [],
    });
  });

  it('are reported at each null of a failed request, with the client’s response keys', async () => {
    const result = await resultOf(
      '{ thing { id a: other b: toString } list: things { other } }',
      { data: { ...THING.data, things: [{ __typename: 'Thing', id: '2' }] } },
      { data: null, errors: [{ message: 'busy' }] },
    );
    expect(result.text).toBe('{"thing":{"id":"1","a":null,"b":null},"list":[{"other":null}]}');
    const paths = [
      ['thing', 'a'],
      ['thing', 'b'],
      ['list', 0, 'other'],
    ];
    expect(result.errors).toEqual(paths.map((path) => ({ message: 'busy', service: 'two', path })));
  });

  it('are attributed to the failed request that should have returned the field', async () => {
    const failed = { data: null, errors: [{ message: 'one' }] };
    expect((await resultOf('{ thing { other } named { name } }', failed)).errors).toMatchObject([
      { message: 'one', path: ['thing'] },
      { message: 'one', path: ['named'] },
    ]);
  });

  it('are limited per failed request: one error without a path covers the rest', async () => {
    const things = Array.from({ length: 200 }, (_, index) => ({ __typename: 'Thing', id: String(index) }));
    const { errors } = await resultOf('{ things { other } }', { data: { things } }, new Error('away'));
    const paths = things.slice(0, 100).map((_thing, index) => ['things', index, 'other']);
    expect(errors.map(({ path }) => path)).toEqual([...paths, undefined]);
  });

  it('do not affect data, however many there are', async () => {
    const errors = Array.from({ length: 300_000 }, (_, index) => ({ message: `${index}`, path: ['thing', 'name'] }));
    const thing = { __typename: 'Thing', id: '1', name: null };
    const { text, errors: reported } = await resultOf('{ thing { id name } }', { data: { thing }, errors });
    expect(text).toBe('{"thing":{"id":"1","name":null}}');
    expect(reported).toHaveLength(300_000);
  });

  it('are reported for responses without entities, and with neither data nor errors', async () => {
    const lacking = { message: expect.stringContaining('"two" did not return all requested objects'), service: 'two' };
    for (const answer of [{ data: {} }, { data: null }, { data: {}, errors: null }, { data: { _entities: [] } }])
      expect(await resultOf('{ thing { id other } }', THING, answer)).toMatchObject({
        text: '{"thing":{"id":"1","other":null}}',
        errors: [{ ...lacking, path: ['thing', 'other'] }],
      });
    for (const answer of [{ data: null }, {}, { data: null, errors: [] }, { data: null, errors: null }])
      expect(await resultOf('{ thing { id } }', answer)).toMatchObject({
        text: '{"thing":null}',
        errors: [{ message: 'The service "one" responded without data.', service: 'one', path: ['thing'] }],
      });
  });

  it('include omitted fields, even beside other errors', async () => {
    const first = { __typename: 'Thing', id: '1', again: null };
    const answer = (path?: string[]) => [
      { data: { it: { ...first }, strict: first }, errors: [{ message: 'no', ...(path && { path }) }] },
      { data: { _entities: [{ other: 'x' }] } },
    ];
    const run = (path?: string[]) => resultOf('{ strict { id again { id } must } thing { name } }', ...answer(path));
    expect(await run(['thing', 'name'])).toMatchObject({
      text: 'null',
      errors: [{ path: ['thing', 'name'] }],
      incomplete: [{ message: 'Cannot return null for non-nullable field Thing.must.', path: ['strict', 'must'] }],
    });
    // An error here may explain the omission.
    for (const path of [['strict'], ['strict', 'must']])
      expect(await run(path)).toMatchObject({ text: 'null', errors: [{ message: 'no' }], incomplete: [] });
    expect(await run()).toMatchObject({
      text: 'null',
      errors: [
        { message: 'no', path: ['strict', 'must'] },
        { message: 'no', path: ['thing'] },
      ],
      incomplete: [],
    });
  });

  it('are reported once if a service omits an object because of one of its fields', async () => {
    const failing = (path: (string | number)[]) => ({ errors: [{ message: 'no', path }] });
    expect(await resultOf('{ strict { id } sure }', { data: null, ...failing(['sure']) })).toMatchObject({
      text: 'null',
      errors: [{ message: 'no', path: ['sure'] }],
      incomplete: [],
    });
    const entity = { data: { _entities: [null] }, ...failing(['_entities', 0, 'sure']) };
    expect(await resultOf('{ thing { id must sure } }', THING, entity)).toMatchObject({
      text: '{"thing":null}',
      errors: [{ message: 'no', path: ['thing', 'sure'] }],
      incomplete: [],
    });
  });

  it('are matched to omitted fields quickly, even among many thousands', async () => {
    const ids = Array.from({ length: 30_000 }, (_, index) => index);
    const begun = cpuMs();
    const { errors, incomplete } = await resultOf(
      '{ some { must } }',
      { data: { some: ids.map((id) => ({ __typename: 'Thing', id: String(id) })) } },
      {
        data: { _entities: ids.map(() => null) },
        errors: ids.slice(1).map((id) => ({ message: 'no', path: ['_entities', id, 'must'] })),
      },
    );
    expect([errors.length, incomplete]).toMatchObject([29_999, [{ path: ['some', 0, 'must'] }]]);
    expect(cpuMs() - begun).toBeLessThan(5_000); // 12 s without a limit
  });

  it.each([[[]], [['nothing that was asked for']]])('have no path if the client sees none: %j', async (path) => {
    const { errors } = await resultOf('{ thing { id } }', { data: { thing: null }, errors: [{ message: 'no', path }] });
    expect(errors).toEqual([{ message: 'no', service: 'one' }]);
  });

  it.each(['no', 5, null, {}])(
    'keep extensions and have the path in the client’s result, whether the message is a text or not: %j',
    async (message) => {
      const extensions = { code: 'TEAPOT' };
      const error = { message: message as never, path: ['_entities', 0, 'must'], extensions };
      const failed = { data: { _entities: [null] }, errors: [error] };
      const { text, errors } = await resultOf('{ it: thing { id now: must then: must } }', THING, failed);
      expect(text).toBe('{"it":null}');
      const said = message === 'no' ? { message } : {};
      const common = { ...said, extensions, service: 'two' };
      expect(errors).toMatchObject(['now', 'then'].map((name) => ({ ...common, path: ['it', name] })));
    },
  );

  it('stop later mutations if the failed field is non-null', async () => {
    const failed = { data: null, errors: [{ message: 'no', path: ['second'] }] };
    const { text, errors } = await resultOf('mutation { second { id } first { id } }', failed);
    expect([text, errors.map(({ message }) => message)]).toEqual(['null', ['no']]); // the other is not asked for
  });

  it('are not caused by additional fields in a response', async () => {
    const thing = JSON.parse('{"id":"1","__proto__":{"name":"polluted"},"extra":1}') as unknown;
    expect(await thingOf('id name', thing)).toEqual({ text: '{"thing":{"id":"1","name":null}}', incomplete: [] });
  });
});

describe('a result that is too large', () => {
  const TOO_LARGE = {
    text: 'null',
    errors: [{ message: 'The result is too large; request less.', extensions: { code: 'PAYLOAD_TOO_LARGE' } }],
    incomplete: [],
  };
  const listOf = <Item>(length: number, item: (index: number) => Item) => Array.from({ length }, (_, at) => item(at));
  const aliases = (field: string) => listOf(30, (at) => `a${at}: ${field}`).join(' ');
  const some = (length: number, thing: () => object): SubgraphAnswer[] => [{ data: { some: listOf(length, thing) } }];
  const error = { message: 'no', path: ['_entities', 0, 'must'] };
  /** The same object at many places, which has these errors. */
  const failing = (...errors: object[]) => [
    ...some(1_000, () => ({ __typename: 'Thing', id: '1' })),
    { data: { _entities: [null] }, errors } as SubgraphAnswer,
  ];

  it.each<[string, string, SubgraphAnswer[]]>([
    ['texts with aliases', `{ some { ${aliases('name')} } }`, some(200, () => ({ name: 'x'.repeat(10_000) }))],
    [
      'scalars with aliases',
      `{ thing { ${aliases('any')} } }`,
      [{ data: { thing: { any: [['x'.repeat(2_000_000)]] } } }],
    ],
    ['long names', `{ some { ${'n'.repeat(100_000)}: __typename } }`, some(400, () => ({ __typename: 'Thing' }))],
    ['long names of an introspection', `{ __schema { types { ${'n'.repeat(4_000_000)}: name } } }`, []],
    [
      'an error with many details about an object at many places',
      '{ some { must } }',
      failing({ ...error, extensions: { issues: 'x'.repeat(50_000) } }),
    ],
    ['objects without a field', '{ some { id } }', some(100_000, () => ({}))],
    ['errors about an object at many places', '{ some { must } }', failing(...listOf(100, () => error))],
    ['errors of fields with aliases', `{ some { ${aliases('must')} } }`, failing(error, error, error)],
  ])('is refused: %s', async (_what, source, answers) => {
    expect(await resultOf(source, ...answers)).toMatchObject(TOO_LARGE);
  });

  it('is refused while it is put together: objects that belong to each other, at each of their places', async () => {
    let entities = 0;
    const source = `{ some { ${'members { of { '.repeat(4)} id ${'} } '.repeat(4)} } }`;
    const begun = cpuMs();
    const { data, errors } = await runOn(graph, source, async ({ operation: { text }, variables }) => {
      if (!text.includes('_entities')) return { data: { some: listOf(10, (id) => ({ __typename: 'Thing', id })) } };
      const asked = variables['representations'] as unknown[];
      entities += asked.length;
      const members = listOf(100, (id) => ({ __typename: 'Member', id }));
      const of = listOf(10, (id) => ({ __typename: 'Thing', id }));
      return { data: { _entities: asked.map(() => structuredClone(text.includes('members') ? { members } : { of })) } };
    });
    expect([data, errors.map(({ message }) => message)]).toEqual([null, ['The result is too large; request less.']]);
    expect(cpuMs() - begun).toBeLessThan(5_000); // 12 s without a limit
    expect(entities).toBeLessThan(1_000);
  });
});

it('a result with many keys takes no more memory than others', async () => {
  const [length, width] = [1_000, 40];
  const some = Array.from({ length }, () => ({ on: true }));
  const fields = Array.from({ length: width }, (_, at) => `a${at}: on`).join(' ');
  const { compile } = createFederatedExecutor(graph, async () => ({ data: { some } }));
  const { run } = compile(parse(`{ some { ${fields} } }`));
  const kept = [await run({ variables: {}, context: undefined })];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 4; count++) kept.push(await run({ variables: {}, context: undefined }));
  collectGarbage();
  const bytes = process.memoryUsage().heapUsed - before;
  expect(bytes / (4 * length * width)).toBeLessThan(16); // of each value; 40 when V8 made tables of the objects
  expect(kept).toHaveLength(5);
});

describe('values of 100,000 levels', () => {
  let deep: unknown[] = [];
  for (let level = 0; level < 100_000; level++) deep = [deep];

  it('that cannot be merged are a failure of their request', async () => {
    const { thing } = THING.data;
    const { data, errors } = await runOn(graph, '{ things { id inside } }', async ({ operation: { service } }) =>
      service === 'one'
        ? { data: { things: [{ ...thing }, { ...thing }] } }
        : { data: { _entities: [{ inside: deep }] } },
    );
    expect((data?.['things'] as unknown[])[1]).toEqual({ id: '1', inside: null });
    expect(errors).toMatchObject([{ path: ['things', 1, 'inside'], cause: expect.any(RangeError) }]);
  });

  it('in an error are sent for each of its fields', async () => {
    const { errors } = await runOn(graph, '{ thing { a: name b: name } }', async () => ({
      data: { thing: { name: null } },
      errors: [{ message: 'no', path: ['thing', 'name'], extensions: { issues: deep } }],
    }));
    expect(errors).toMatchObject([{ path: ['thing', 'a'] }, { path: ['thing', 'b'] }]);
  });
});

describe('an operation', () => {
  it('is planned for each combination of its conditions, and no longer grows once it was evicted', async () => {
    const waiting: (() => void)[] = [];
    let isHeld = true;
    const executor = createFederatedExecutor(graph, async () => {
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      return { data: { named: { __typename: 'Thing', name: 'x' } } };
    });
    const names = ['a', 'b', 'c', 'd', 'e'];
    const selection = names.map((name) => `${name}: name @include(if: $${name})`).join(' ');
    const source = `query (${names.map((name) => `$${name}: Boolean!`).join(' ')}) { named { name ${selection} } }`;
    let bytes = 0;
    const operation = executor.compile(parse(source), undefined, (more) => void (bytes += more));
    const run = (bits: number) =>
      operation.run({
        variables: Object.fromEntries(names.map((name, index) => [name, (bits >> index) % 2 === 1])),
        context: undefined,
      });
    const held = run(31);
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    isHeld = false;
    for (const bits of [...Array(16).keys(), ...Array(16).keys()]) {
      const shown = names.filter((_name, index) => (bits >> index) % 2 === 1).map((name) => [name, 'x']);
      expect((await run(bits)).data).toEqual({ named: { name: 'x', ...Object.fromEntries(shown) } });
    }
    const before = bytes;
    waiting[0]?.();
    expect(await held).toMatchObject({ errors: [], data: { named: { e: 'x' } } });
    expect(bytes).toBe(before);
  });

  it('is planned with schedulePlanning when its conditions need another plan', async () => {
    const contexts: string[] = [];
    const executor = createFederatedExecutor(
      graph,
      async () => structuredClone(THING),
      async (context: string, plan) => (contexts.push(context), plan()),
    );
    const operation = executor.compile(parse('query ($a: Boolean!) { thing { id name @include(if: $a) } }'));
    for (const [of, a] of [
      ['first', true],
      ['same', true],
      ['other', false],
    ] as const)
      await operation.run({ variables: { a }, context: of });
    expect(contexts).toEqual(['first', 'other']);
  });

  it('is rejected if the document does not have it', () => {
    expect(() => createFederatedExecutor(graph, async () => ({})).compile(parse('{ thing { id } }'), 'Other')).toThrow(
      'no such operation',
    );
  });
});
