import { postGraphQL, useGateway } from './fakes/gateway.ts';

const SECRET = 'hunter2Tr0ub4dor';

const SIGN_UP = 'mutation ($i: SignUpInput!) { signUp(input: $i) { expiresIn } }';
const LOGIN = 'mutation ($i: LoginInput!) { login(input: $i) { expiresIn } }';
const CREATE = 'mutation ($i: CreateTaskInput!) { createTask(input: $i) { id } }';
const LIST =
  'query ($f: TaskFilter, $o: TaskOrder, $n: Int) { tasks(filter: $f, orderBy: $o, first: $n) { totalCount } }';

/** Values that do not fit their positions. `SECRET` stands for data that clients would not want to see in a log. */
const SHAPES: unknown[] = [
  SECRET,
  [SECRET],
  [[SECRET]],
  { email: SECRET, password: SECRET },
  { email: { a: SECRET }, password: [SECRET], name: null },
  { title: [SECRET], priority: SECRET, completed: SECRET, dueDate: { a: SECRET }, nothing: SECRET },
  { field: SECRET, direction: SECRET },
  null,
  5.5,
];

/** Literals in a document, with types other than those of their positions. */
const LITERALS = [
  `"${SECRET}"`,
  `"""${SECRET}"""`,
  SECRET,
  `["${SECRET}"]`,
  `{ a: "${SECRET}" }`,
  `{ email: "${SECRET}", password: ${SECRET} }`,
  `{ title: {a: "${SECRET}"}, priority: ${SECRET}, completed: "${SECRET}" }`,
  `{ field: "${SECRET}", direction: ${SECRET} }`,
  '{ email: 8675309, password: 8675309 }',
  '[8675309.5]',
];
/** `?` stands for the literal. */
const PLACES = [
  'mutation { login(input: ?) { expiresIn } }',
  'mutation { createTask(input: ?) { id } }',
  '{ tasks(filter: ?) { totalCount } }',
  '{ tasks(orderBy: ?) { totalCount } }',
  '{ tasks(first: ?) { totalCount } }',
  '{ task(id: ?) { id } }',
  '{ __typename @include(if: ?) }',
  'query ($f: TaskFilter = ?) { tasks(filter: $f) { totalCount } }',
];
const UNREADABLE = [
  `{ task(id: "${SECRET}" "${SECRET}") { id } }`,
  `{ task("${SECRET}") { id } }`,
  `{ task(id: """${SECRET}""" 5) { id } ]`,
  `{ task(id: "\\q${SECRET}") { id } }`,
  `{ task(id: "${SECRET}`,
  `{ task(id: 8675309x) { id } }`,
  `{ task(id: $${SECRET} 8675309) }`,
  `${SECRET}`,
  `query ($a: Int = ${SECRET}$b) { a }`,
  `{ task(id: ?${SECRET}) }`,
];
const hasSecret = (text: string) => /hunter2|Tr0ub4dor|8675309/.test(text);

describe.each<Record<string, string>>([{}, { GRAPHQL_INTROSPECTION: 'false' }])('a gateway with %j', (env) => {
  const hasIntrospection = env['GRAPHQL_INTROSPECTION'] === undefined;
  const gateway = useGateway({ env });

  async function messagesOf(body: unknown): Promise<string> {
    const { body: answer } = await postGraphQL(gateway.origin, body, { authorization: `Bearer ${gateway.token}` });
    return JSON.stringify(answer.errors ?? []);
  }

  const requests: unknown[] = [
    ...[SIGN_UP, LOGIN, CREATE].flatMap((query) => SHAPES.map((i) => ({ query, variables: { i } }))),
    ...SHAPES.map((shape) => ({ query: LIST, variables: { f: shape, o: shape, n: shape } })),
    ...PLACES.flatMap((place) => LITERALS.map((literal) => ({ query: place.replace('?', literal) }))),
    ...UNREADABLE.map((query) => ({ query })),
    { query: { password: SECRET } },
    ...['variables', 'operationName', 'extensions'].map((name) => ({ query: LOGIN, [name]: SECRET })),
    ...['variables', 'operationName'].map((name) => ({ query: LOGIN, [name]: [SECRET] })),
    ...[SECRET, { version: SECRET }, { version: 1, sha256Hash: SECRET }].map((persistedQuery) => ({
      ...{ query: LOGIN, extensions: { persistedQuery } },
    })),
    { documentId: SECRET },
    `{ "query": "${SECRET}`,
    `["${SECRET}"]`,
  ];

  it('repeats no value of a refused request', async () => {
    const forbidden = ['INTERNAL_SERVER_ERROR', ...(hasIntrospection ? [] : ['Did you mean'])];
    for (let from = 0; from < requests.length; from += 20)
      await Promise.all(
        requests.slice(from, from + 20).map(async (request) => {
          const messages = await messagesOf(request);
          const found = forbidden.filter((text) => messages.includes(text));
          expect({ request, hasSecret: hasSecret(messages), found }).toEqual({ request, hasSecret: false, found: [] });
        }),
      );
  });

  it('suggests names and values only if introspection is allowed', async () => {
    const wrong = [
      { query: '{ taskStatistic { total } }' },
      { query: 'query ($f: TaskFilter) { tasks(filte: $f) { totalCount } }' },
      { query: '{ tasks(filter: { priorit: LOW }) { totalCount } }' },
      { query: '{ tasks(filter: { priority: LO }) { totalCount } }' },
      { query: LIST, variables: { f: { priorit: 'LOW' } } },
      { query: LIST, variables: { f: { priority: 'LO' } } },
    ];
    const texts = await Promise.all(wrong.map(messagesOf));
    expect(texts.every((messages) => messages.includes('"code"'))).toBe(true);
    expect(texts.some((messages) => messages.includes('Did you mean'))).toBe(hasIntrospection);
    // The values of an enum, for a literal and for a variable.
    expect(texts.filter((messages) => messages.includes('LOW, MEDIUM'))).toHaveLength(hasIntrospection ? 2 : 0);
  });

  it('logs no value', () => expect(hasSecret(JSON.stringify(gateway.logged))).toBe(false));
});
