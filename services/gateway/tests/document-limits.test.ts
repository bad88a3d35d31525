import { getIntrospectionQuery } from 'graphql';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

async function codes(gateway: TestGateway, query: string, variables?: Record<string, unknown>) {
  const { status, body } = await gateway.graphql(query, {
    token: await gateway.auth.token(USER),
    ...(variables && { variables }),
  });
  expect(status).toBe(200);
  return body.errors?.map(({ extensions }) => extensions.code) ?? [];
}

/** `me { tasks { edges { node { owner { … } } } } }`, `levels` fields deep. */
function nested(levels: number): string {
  const cycle = ['tasks(first: 1)', 'edges', 'node', 'owner'];
  const names = ['me', ...Array.from({ length: levels - 2 }, (_, index) => cycle[index % 4]), '__typename'];
  return `{ ${names.join(' { ')} ${'} '.repeat(levels)}`;
}

const aliases = (count: number) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: taskStatistics { total }`).join(' ')} }`;
/** Operations of five tokens each. */
const operations = (count: number) =>
  Array.from({ length: count }, (_, index) => `query Q${index} { __typename }`).join(' ');

const TOO_MUCH = ['GRAPHQL_VALIDATION_FAILED'];

describe('a document of a client', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.stop());

  it('may be 12 levels deep', async () => {
    expect(await codes(gateway, nested(12))).toEqual([]);
    expect(await codes(gateway, nested(13))).toEqual(TOO_MUCH);
  });

  it('may have 30 aliases, fragments counted where they are spread', async () => {
    expect(await codes(gateway, aliases(30))).toEqual([]);
    expect(await codes(gateway, aliases(31))).toEqual(TOO_MUCH);
    const fragment = `fragment F on TaskStatistics { ${Array.from({ length: 16 }, (_, index) => `x${index}: total`).join(' ')} }`;
    expect(await codes(gateway, `{ taskStatistics { ...F } } ${fragment}`)).toEqual([]);
    expect(await codes(gateway, `{ taskStatistics { ...F } b: taskStatistics { ...F } } ${fragment}`)).toEqual(
      TOO_MUCH,
    );
  });

  it('may have 4,000 tokens', async () => {
    const few = await gateway.graphql(operations(799), { operationName: 'Q0' });
    expect(few.body).toEqual({ data: { __typename: 'Query' } });
    const many = await gateway.graphql(operations(801), { operationName: 'Q0' });
    expect(many.body.errors?.map(({ extensions }) => extensions.code)).toEqual(['GRAPHQL_PARSE_FAILED']);
  });

  it.each([
    ['128,000 characters', '#', 127_986],
    ['10,000 lines', '\r\n', 9_999],
  ])('may have %s, with any content', async (_limit, filler, most) => {
    const answered = async (times: number) =>
      (await gateway.graphql(`{ __typename }${filler.repeat(times)}`)).body.errors?.map(
        ({ extensions }) => extensions.code,
      );
    expect(await answered(most)).toBeUndefined();
    expect(await answered(most + 1)).toEqual(['GRAPHQL_PARSE_FAILED']);
  });

  it('may cost 5,000, by the literals or the variables of its pages', async () => {
    const literal = (outer: number, inner: number) =>
      `{ me { tasks(first: ${outer}) { edges { node { owner { tasks(first: ${inner}) { edges { cursor } } } } } } } }`;
    expect(await codes(gateway, literal(1_000, 1))).toEqual(TOO_MUCH);
    expect(await codes(gateway, literal(30, 30))).toEqual([]);
    const variable =
      'query ($outer: Int, $inner: Int = 1) { me { tasks(first: $outer) { edges { node { owner { tasks(first: $inner) { edges { cursor } } } } } } } }';
    expect(await codes(gateway, variable, { outer: 30, inner: 30 })).toEqual([]);
    expect(await codes(gateway, variable, { outer: 1_000, inner: 1_000 })).toEqual(TOO_MUCH);
    expect(await codes(gateway, variable, { outer: 1_000 })).toEqual(TOO_MUCH);
    expect(await codes(gateway, '{ tasks(first: 1000) { edges { node { id owner { name } } } } }')).toEqual([]);
  });

  it('may prove one password only, however it is written', async () => {
    const login = (alias: string) =>
      `${alias}: login(input: { email: "${USER}", password: "right password" }) { expiresIn }`;
    expect(await codes(gateway, `mutation { ${login('a')} }`)).toEqual([]);
    expect(await codes(gateway, `mutation { ${login('a')} ${login('b')} }`)).toEqual(TOO_MUCH);
    expect(
      await codes(
        gateway,
        `mutation { ...A ...B } fragment A on Mutation { ${login('a')} } fragment B on Mutation { ${login('b')} }`,
      ),
    ).toEqual(TOO_MUCH);
    expect(await codes(gateway, `mutation { ${login('a')} requestPasswordReset(email: "x") }`)).toEqual(TOO_MUCH);
    const signIn = 'signInWithCode(input: { code: "x", verifier: "x", password: "x" }) { expiresIn }';
    const link = 'linkIdentity(input: { code: "x", verifier: "x", password: "x" }) { id }';
    for (const each of [`a: ${signIn} b: ${signIn}`, `${signIn} ${link}`])
      expect(await codes(gateway, `mutation { ${each} }`)).toEqual(TOO_MUCH);
  });

  it('may ask what there is, but not without end', async () => {
    expect(await codes(gateway, getIntrospectionQuery())).toEqual([]);
    const deep = `{ __schema { types { fields { type { ${'ofType { '.repeat(20)} name ${'} '.repeat(20)} } } } } }`;
    expect(await codes(gateway, deep)).toEqual(TOO_MUCH);
  });
});

describe('limits that are set to 0', () => {
  it('are off', async () => {
    const gateway = await startTestGateway({
      env: { GRAPHQL_MAX_DEPTH: '0', GRAPHQL_MAX_ALIASES: '0', GRAPHQL_MAX_TOKENS: '0', GRAPHQL_MAX_COST: '0' },
    });
    expect(await codes(gateway, nested(16))).toEqual([]);
    expect(await codes(gateway, aliases(60))).toEqual([]);
    expect(await codes(gateway, `${'\n'.repeat(128_001)}{ __typename }`)).toEqual([]);
    expect((await gateway.graphql(operations(1_000), { operationName: 'Q0' })).body).toEqual({
      data: { __typename: 'Query' },
    });
    expect(
      await codes(
        gateway,
        '{ me { tasks(first: 1000) { edges { node { owner { tasks(first: 1000) { totalCount } } } } } } }',
      ),
    ).toEqual([]);
    await gateway.stop();
  });
});

describe('trusted documents', () => {
  it('must match their hashes', async () => {
    const files = { TRUSTED_DOCUMENTS_FILE: JSON.stringify({ ['0'.repeat(64)]: '{ __typename }' }) };
    await expect(startTestGateway({ env: { TRUSTED_DOCUMENTS: 'only' }, files })).rejects.toThrow(
      'TRUSTED_DOCUMENTS_FILE',
    );
  });
});
