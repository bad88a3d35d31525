import { parse } from 'graphql';
import {
  createFederatedExecutor,
  readSupergraph,
  type AskSubgraph,
  type OperationRequest,
  type SubgraphAnswer,
  type SubgraphRequest,
} from '../src/index.ts';
import { cpuMs } from './cpu-ms.ts';
import { compose } from './world.ts';

const graph = readSupergraph(
  compose([
    {
      name: 'one',
      sdl: `
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
    },
    {
      name: 'two',
      sdl: `
        type Thing @key(fields: "id") {
          id: ID! other: String must: Int! sure: Int! toString: String inside: Any members: [Member]
        }
        type Member @key(fields: "id") { id: ID! }
        scalar Any
      `,
    },
    {
      name: 'three',
      sdl: `
        type Member @key(fields: "id") { id: ID! of: [Thing] }
        type Thing @key(fields: "id") { id: ID! }
      `,
    },
  ]),
);

/** Services that return these responses in turn. */
function answering(...answers: (SubgraphAnswer | Error)[]) {
  const asked: SubgraphRequest[] = [];
  const ask: AskSubgraph<undefined> = async (request) => {
    asked.push(request);
    const answer = answers.shift();
    if (!answer || answer instanceof Error) throw answer ?? new Error('no one asks more');
    return structuredClone(answer);
  };
  const compile = (source: string) => {
    const operation = createFederatedExecutor(graph, ask).compile(parse(source));
    const run = async (request: OperationRequest<undefined>) => {
      const { data, ...failures } = await operation.run(request);
      return { text: JSON.stringify(data), ...failures };
    };
    return { ...operation, run };
  };
  return { asked, compile };
}

const context = undefined;

/** The client's result of an operation, given the services' responses. */
const resultOf = (source: string, ...answers: (SubgraphAnswer | Error)[]) =>
  answering(...answers)
    .compile(source)
    .run({ variables: {}, context });

/** The same for `{ thing { … } }`. */
async function thingOf(selection: string, thing: unknown) {
  const answer = { data: { thing } } as SubgraphAnswer;
  const { text, incomplete } = await resultOf(`{ thing { ${selection} } }`, answer);
  return { text, incomplete };
}

/** A response whose object the next service can resolve. */
const THING = { data: { thing: { __typename: 'Thing', id: '1' } } };

describe('values', () => {
  it.each([
    ['count', 2 ** 31 - 1, '2147483647'],
    ['count', -0, '0'],
    ['size', 1.5, '1.5'],
    ['size', 1e300, '1e+300'],
    ['on', false, 'false'],
    ['color', 'RED', '"RED"'],
    ['id', 7, '"7"'],
    ['id', '7', '"7"'],
    ['name', 'a "b" \\ \u0007 \ud800', '"a \\"b\\" \\\\ \\u0007 \\ud800"'],
    ['any', { a: [1, null, '"'] }, '{"a":[1,null,"\\""]}'],
    ['any', 'text', '"text"'],
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

  it('are null if clients do not know their type', async () => {
    const secret = { data: { named: { __typename: 'Secret', name: 'x' } } };
    expect(await resultOf('{ named { __typename name } }', secret)).toMatchObject({
      text: '{"named":null}',
      incomplete: [{ message: 'Invalid __typename found for object at field Query.named.' }],
    });
  });

  it('may have any response key', async () => {
    const selection = '__proto__: name constructor: id toString: count';
    expect(await thingOf(selection, { name: 'n', id: '1', count: 2 })).toEqual({
      text: '{"thing":{"__proto__":"n","constructor":"1","toString":2}}',
      incomplete: [],
    });
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
    const things = { things: [{ __typename: 'Thing', id: '1' }] };
    const twoServices = createFederatedExecutor(graph, async ({ operation }) => ({
      data: null,
      errors: [{ message: operation.service }],
    }));
    expect((await resultOf('{ things { other } }', { data: things }, new Error('first'))).errors).toMatchObject([
      { path: ['things', 0, 'other'] },
    ]);
    const both = await twoServices.compile(parse('{ thing { other } named { name } }')).run({ variables: {}, context });
    expect(both.errors).toMatchObject([
      { message: 'one', path: ['thing'] },
      { message: 'one', path: ['named'] },
    ]);
  });

  it('are limited per failed request: one error without a path covers the rest', async () => {
    const things = Array.from({ length: 200 }, (_, index) => ({ __typename: 'Thing', id: String(index) }));
    const { errors } = await resultOf('{ things { other } }', { data: { things } }, new Error('away'));
    expect(errors).toHaveLength(101);
    expect(errors[99]).toMatchObject({ path: ['things', 99, 'other'] });
    expect(errors[100]).not.toHaveProperty('path');
  });

  it('do not affect data, however many there are', async () => {
    const errors = Array.from({ length: 300_000 }, (_, index) => ({ message: `${index}`, path: ['thing', 'name'] }));
    const thing = { __typename: 'Thing', id: '1', name: null };
    const { text, errors: reported } = await resultOf('{ thing { id name } }', { data: { thing }, errors });
    expect(text).toBe('{"thing":{"id":"1","name":null}}');
    expect(reported).toHaveLength(300_000);
  });

  it.each([{ data: {} }, { data: null }, { data: {}, errors: null }, { data: { _entities: [] } }])(
    'are reported for a response without entities: %j',
    async (answer) => {
      const { text, errors } = await resultOf('{ thing { id other } }', THING, answer);
      expect(text).toBe('{"thing":{"id":"1","other":null}}');
      const message = expect.stringContaining('"two" did not return all requested objects') as string;
      expect(errors).toEqual([{ message, service: 'two', path: ['thing', 'other'] }]);
    },
  );

  it.each([{ data: null }, {}, { data: null, errors: [] }, { data: null, errors: null }])(
    'are reported for a response with neither data nor errors: %j',
    async (answer) => {
      const { text, errors } = await resultOf('{ thing { id } }', answer);
      expect(text).toBe('{"thing":null}');
      const message = 'The service "one" responded without data.';
      expect(errors).toEqual([{ message, service: 'one', path: ['thing'] }]);
    },
  );

  it('include omitted fields, even beside other errors', async () => {
    const first = { __typename: 'Thing', id: '1', again: null };
    const answer = (path?: string[]) => [
      { data: { it: { ...first }, strict: first }, errors: [{ message: 'no', ...(path && { path }) }] },
      { data: { _entities: [{ other: 'x' }] } },
    ];
    const source = '{ strict { id again { id } must } thing { name } }';
    const run = (path?: string[]) => resultOf(source, ...answer(path));
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
    const { compile } = answering(
      { data: { some: ids.map((id) => ({ __typename: 'Thing', id: String(id) })) } },
      {
        data: { _entities: ids.map(() => null) },
        errors: ids.slice(1).map((id) => ({ message: 'no', path: ['_entities', id, 'must'] })),
      },
    );
    const operation = compile('{ some { must } }');
    const begun = cpuMs();
    const { errors, incomplete } = await operation.run({ variables: {}, context });
    expect([errors.length, incomplete]).toMatchObject([29_999, [{ path: ['some', 0, 'must'] }]]);
    expect(cpuMs() - begun).toBeLessThan(5_000); // 12 s without a limit
  });

  it.each([[[]], [['nothing that was asked for']]])('have no path if the client sees none: %j', async (path) => {
    const { errors } = await resultOf('{ thing { id } }', { data: { thing: null }, errors: [{ message: 'no', path }] });
    expect(errors).toEqual([{ message: 'no', service: 'one' }]);
  });

  it('keep the service’s extensions and have the path in the client’s result', async () => {
    const extensions = { code: 'TEAPOT' };
    const error = { message: 'no', path: ['_entities', 0, 'must'], extensions };
    const failed = { data: { _entities: [null] }, errors: [error] };
    const { text, errors } = await resultOf('{ it: thing { id now: must then: must } }', THING, failed);
    expect(text).toBe('{"it":null}');
    expect(errors).toEqual([
      { message: 'no', path: ['it', 'now'], extensions, service: 'two' },
      { message: 'no', path: ['it', 'then'], extensions, service: 'two' },
    ]);
  });

  it.each([5, null, {}])('fail nothing else when their message is no text: %j', async (message) => {
    const failed = {
      data: { _entities: [null] },
      errors: [{ message: message as never, path: ['_entities', 0, 'must'] }],
    };
    const { text, errors } = await resultOf('{ it: thing { id now: must then: must } }', THING, failed);
    expect([text, errors.map(({ path }) => path)]).toEqual([
      '{"it":null}',
      [
        ['it', 'now'],
        ['it', 'then'],
      ],
    ]);
  });

  it('stop later mutations if the failed field is non-null', async () => {
    const { asked, compile } = answering({ data: null, errors: [{ message: 'no', path: ['second'] }] });
    const result = await compile('mutation { second { id } first { id } }').run({ variables: {}, context });
    expect([result.text, asked.length]).toEqual(['null', 1]);
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
  const same = { some: listOf(1_000, () => ({ __typename: 'Thing', id: '1' })) };
  const error = { message: 'no', path: ['_entities', 0, 'must'] };

  it.each<[string, string, SubgraphAnswer[]]>([
    [
      'texts with aliases',
      `{ some { ${aliases('name')} } }`,
      [{ data: { some: listOf(200, () => ({ name: 'x'.repeat(10_000) })) } }],
    ],
    [
      'scalars with aliases',
      `{ thing { ${aliases('any')} } }`,
      [{ data: { thing: { any: [['x'.repeat(2_000_000)]] } } }],
    ],
    [
      'long names',
      `{ some { ${'n'.repeat(100_000)}: __typename } }`,
      [{ data: { some: listOf(400, () => ({ __typename: 'Thing' })) } }],
    ],
    ['long names of an introspection', `{ __schema { types { ${'n'.repeat(4_000_000)}: name } } }`, []],
    [
      'an error with many details about an object at many places',
      '{ some { must } }',
      [
        { data: same },
        { data: { _entities: [null] }, errors: [{ ...error, extensions: { issues: 'x'.repeat(50_000) } }] },
      ],
    ],
    ['objects without a field', '{ some { id } }', [{ data: { some: listOf(100_000, () => ({})) } }]],
    [
      'errors about an object at many places',
      '{ some { must } }',
      [{ data: same }, { data: { _entities: [null] }, errors: listOf(100, () => error) }],
    ],
    [
      'errors of fields with aliases',
      `{ some { ${aliases('must')} } }`,
      [{ data: same }, { data: { _entities: [null] }, errors: listOf(3, () => error) }],
    ],
  ])('is refused: %s', async (_what, source, answers) => {
    expect(await resultOf(source, ...answers)).toMatchObject(TOO_LARGE);
  });

  it('is refused while it is put together: objects that belong to each other, at each of their places', async () => {
    let entities = 0;
    const executor = createFederatedExecutor(graph, async ({ operation: { text }, variables }) => {
      if (!text.includes('_entities')) return { data: { some: listOf(10, (id) => ({ __typename: 'Thing', id })) } };
      const asked = variables['representations'] as unknown[];
      entities += asked.length;
      const members = listOf(100, (id) => ({ __typename: 'Member', id }));
      const of = listOf(10, (id) => ({ __typename: 'Thing', id }));
      return { data: { _entities: asked.map(() => structuredClone(text.includes('members') ? { members } : { of })) } };
    });
    const levels = 'members { of { '.repeat(4);
    const operation = executor.compile(parse(`{ some { ${levels} id ${'} } '.repeat(4)} } }`));
    const begun = cpuMs();
    const { data, errors } = await operation.run({ variables: {}, context });
    expect([data, errors.map(({ message }) => message)]).toEqual([null, ['The result is too large; request less.']]);
    expect(cpuMs() - begun).toBeLessThan(5_000); // 12 s without a limit
    expect(entities).toBeLessThan(1_000);
  });
});

it('a response that cannot be merged is a failure of its request', async () => {
  const things = () => [{ ...THING.data.thing }, { ...THING.data.thing }];
  let inside: unknown[] = [];
  for (let level = 0; level < 100_000; level++) inside = [inside];
  const executor = createFederatedExecutor(graph, async ({ operation: { service } }) =>
    service === 'one' ? { data: { things: things() } } : { data: { _entities: [{ inside }] } },
  );
  const { data, errors } = await executor.compile(parse('{ things { id inside } }')).run({ variables: {}, context });
  expect((data?.['things'] as unknown[])[1]).toEqual({ id: '1', inside: null });
  expect(errors).toMatchObject([{ path: ['things', 1, 'inside'], cause: expect.any(RangeError) }]);
});

it('an error with deep details is sent for each of its fields', async () => {
  let issues: unknown[] = [];
  for (let level = 0; level < 100_000; level++) issues = [issues];
  const executor = createFederatedExecutor(graph, async () => ({
    data: { thing: { name: null } },
    errors: [{ message: 'no', path: ['thing', 'name'], extensions: { issues } }],
  }));
  const { errors } = await executor.compile(parse('{ thing { a: name b: name } }')).run({ variables: {}, context });
  expect(errors.map(({ path }) => path)).toEqual([
    ['thing', 'a'],
    ['thing', 'b'],
  ]);
});

describe('an operation', () => {
  it('is planned for each combination of its conditions, even for more than are cached', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const selection = names.map((name) => `${name}: id @include(if: $${name})`).join(' ');
    const source = `query (${names.map((name) => `$${name}: Boolean!`).join(' ')}) { thing { ${selection} } }`;
    const combinations = Array.from({ length: 32 }, (_, bits) => bits);
    const answers = combinations.map(() => THING);
    const operation = answering(...answers, ...answers).compile(source);
    for (const bits of [...combinations, ...combinations]) {
      const variables = Object.fromEntries(names.map((name, index) => [name, (bits >> index) % 2 === 1]));
      const { text } = await operation.run({ variables, context });
      const expected = Object.fromEntries(names.filter((name) => variables[name]).map((name) => [name, '1']));
      expect(text).toBe(JSON.stringify({ thing: expected }));
    }
  });

  it('no longer grows once it was evicted', async () => {
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
        context,
      });
    const held = run(31);
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    isHeld = false;
    for (let bits = 0; bits < 16; bits++) await run(bits);
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
