import { gzipSync } from 'node:zlib';
import type { MeasuredProduct, Reply } from './measured-product.ts';
import { channel, fragments, graphqlWs, rawBody, subscribe } from './sockets.ts';

export type Kind =
  'document' | 'variables' | 'body' | 'header' | 'REST' | 'socket' | 'change' | 'archive' | 'batch' | 'found';

/** An account with 1,000 tasks of the greatest length. */
export interface Account {
  token: string;
  taskId: string;
}

/** The worst that a limit permits. */
export interface Case {
  kind: Kind;
  name: string;
  by: 'stranger' | 'account' | 'operator';
  /** The status of the response and its error code. A case that is refused earlier than it was proves nothing. */
  outcome: string;
  /** How many requests it stands for, which each have the budget. @default 1 */
  requests?: number;
  /** `turn` makes requests differ, so that no cache answers them. Resolves with the outcome. */
  send(product: MeasuredProduct, account: Account, turn: number): Promise<string>;
}

const JSON_TYPE: Record<string, string> = { 'content-type': 'application/json' };
const MIB = 2 ** 20;

export const times = (count: number, part: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');

const bearer = (by: Case['by'], { token }: Account): Record<string, string> =>
  by === 'account' ? { authorization: `Bearer ${token}` } : {};

type Query = (turn: number, account: Account) => string;
interface Options {
  by?: Case['by'];
  kind?: Kind;
  outcome?: string;
  variables?: (turn: number, account: Account) => unknown;
  operationName?: string;
}

/** A document, over POST. */
function document(name: string, query: Query, options: Options = {}): Case {
  const { by = 'stranger', kind = 'document', outcome = '200', variables, operationName } = options;
  return {
    ...{ kind, name, by, outcome },
    send: async (product, account, turn) =>
      outcomeOf(
        await product.send('/graphql', {
          method: 'POST',
          headers: { ...JSON_TYPE, ...bearer(by, account) },
          body: JSON.stringify({ query: query(turn, account), variables: variables?.(turn, account), operationName }),
        }),
      ),
  };
}

const INVALID = '200 GRAPHQL_VALIDATION_FAILED';
const UNPARSABLE = '200 GRAPHQL_PARSE_FAILED';
const NO_USER = '200 UNAUTHENTICATED';
const LONG = 127_000;

const taskWith = (literal: string) => `{ task(id: ${literal}) { id } }`;
const INTROSPECTION = `{ queryType { name } types { kind name description
  fields(includeDeprecated: true) { name description args { name type { ...R } } type { ...R } }
  inputFields { name type { ...R } } enumValues { name } possibleTypes { ...R } } directives { name args { name } } }`;
const REFERENCE = 'fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';
export const TASK_FIELDS = [
  'id',
  'title',
  'description',
  'completed',
  'dueDate',
  'category',
  'priority',
  'createdAt',
  'version',
];

const documents: readonly Case[] = [
  document('a literal of 127,000 characters', (turn) => taskWith(`"${turn}${'x'.repeat(LONG)}"`), { outcome: NO_USER }),
  document('a literal that begins as a mark of ours', (turn) => taskWith(`"literal ${turn}${' '.repeat(LONG)}"`), {
    outcome: NO_USER,
  }),
  document('a literal of escapes', (turn) => taskWith(`"${turn}${'\\u0041'.repeat(LONG / 6)}"`), { outcome: NO_USER }),
  document('a block string of 10,000 lines', (turn) => taskWith(`"""${turn}${' \n'.repeat(9_900)}x"""`), {
    outcome: NO_USER,
  }),
  document('an integer of 127,000 digits', (turn) => taskWith(`1${turn}${'7'.repeat(LONG)}`), { outcome: NO_USER }),
  document('blanks', (turn) => `${' '.repeat(LONG)}{ a${turn}: __typename }`),
  document('comments on 10,000 lines', (turn) => `${'#,,,,,,,,,\n'.repeat(9_999)}{ a${turn}: __typename }`),
  document(
    'errors behind 10,000 lines',
    (turn) => `${'\n'.repeat(9_990)}{ ${times(1_900, (at) => `x${turn}_${at}`)} }`,
    {
      outcome: INVALID,
    },
  ),
  document('lists in lists', (turn) => taskWith(`${'['.repeat(1_900)}${turn}${']'.repeat(1_900)}`), {
    outcome: UNPARSABLE,
  }),
  document('selections in selections', (turn) => `${'{a'.repeat(1_300)}${turn}${'}'.repeat(1_300)}`, {
    outcome: INVALID,
  }),
  document('1,900 fields', (turn) => `{ ${times(1_900, () => '__typename')} a${turn}: __typename }`),
  document(
    '1,900 fields of 30 aliases',
    (turn) =>
      `{ ${times(29, (at) => `a${turn}_${at}: task(id: "${at}") { ${times(60, (of) => TASK_FIELDS[of % 9] ?? '')} }`)} }`,
    { outcome: NO_USER },
  ),
  document(
    '2,000 fields of 30 aliases',
    (turn) =>
      `{ ${times(30, (at) => `a${turn}_${at}: task(id: "${at}") { ...F }`)} } fragment F on Task { ${times(32, (at) => `... on Task @include(if: true) { owner { ${['name', 'email', 'id'][at % 3]} } }`)} }`,
    { outcome: NO_USER },
  ),
  document(
    '30 aliases that ask both services in turn',
    (turn) => {
      const nested = 'owner { name tasks(first: 1) { edges { node { '.repeat(2);
      return `{ ${times(30, (at) => `a${turn}_${at}: task(id: "${at}") { ${nested} id owner { name } ${'} } } }'.repeat(2)} }`)} }`;
    },
    { outcome: NO_USER },
  ),
  document(
    '2,000 fields of spread fragments',
    (turn) => `{ a${turn}: task(id: "1") { ${'...A '.repeat(30)} } }
      fragment A on Task { ${'...B '.repeat(10)} } fragment B on Task { owner { tasks { totalCount } ${'...C '.repeat(3)} } }
      fragment C on User { id }`,
    { outcome: NO_USER },
  ),
  document(
    '140 fragments that spread each other',
    (turn) =>
      `{ a${turn}: task(id: "1") { ...F0 } } ${times(139, (at) => `fragment F${at} on Task { ${times(8, (of) => (at + of < 139 ? `...F${at + of + 1}` : 'id'))} }`)} fragment F139 on Task { id }`,
    { outcome: INVALID },
  ),
  document(
    '140 fragments beside each other',
    (turn) =>
      `{ a${turn}: task(id: "1") { ${times(139, (at) => `...F${at}`)} } } ${times(139, (at) => `fragment F${at} on Task { ${times(8, (of) => TASK_FIELDS[of] ?? '')} }`)}`,
    { outcome: NO_USER },
  ),
  document(
    'overlapping fields',
    (turn) =>
      `{ a${turn}: task(id: "1") { ${times(20, (at) => `owner { tasks(first: 1) { totalCount edges { cursor node { ${TASK_FIELDS.slice(at % 8).join(' ')} } } } }`)} } }`,
    { outcome: NO_USER },
  ),
  document(
    'overlapping inline fragments',
    (turn) =>
      `{ a${turn}: task(id: "1") { ${times(60, () => `... @include(if: true) { owner @skip(if: false) { id ... { name email } } }`)} } }`,
    { outcome: NO_USER },
  ),
  document('570 directives at a field', (turn) => `{ a${turn}: __typename ${'@include(if: true) '.repeat(570)} }`, {
    outcome: INVALID,
  }),
  document('unknown directives', (turn) => `{ a${turn}: __typename ${times(1_900, (at) => `@d${at}`)} }`, {
    outcome: INVALID,
  }),
  document(
    '400 conditions',
    (turn) =>
      `query($v: Boolean! = true) { ${times(29, (at) => `a${turn}_${at}: task(id: "1") { ${times(14, (of) => `${TASK_FIELDS[of % 9]} @include(if: $v)`)} }`)} }`,
    { outcome: NO_USER },
  ),
  document(
    'variants of a document',
    (turn) =>
      `query(${times(12, (at) => `$v${at}: Boolean! = ${(turn >> at) % 2 === 0}`)}) { ${times(12, (at) => `a${at}: task(id: "1") @include(if: $v${at}) { ${TASK_FIELDS.join(' ')} owner { name taskStatistics { total } } }`)} __typename }`,
    { outcome: NO_USER },
  ),
  document('660 variables', (turn) => `query(${times(660, (at) => `$v${turn}_${at}: String`)}) { __typename }`, {
    outcome: INVALID,
  }),
  document(
    '400 variables in use',
    (turn) =>
      `query(${times(400, (at) => `$v${at}: String = "${turn}"`)}) { ${times(20, (at) => `a${at}: tasks(filter: { category: $v${at} }) { totalCount }`)} }`,
    { outcome: INVALID },
  ),
  document('introspection, as tools send it', (turn) => `{ a${turn}: __schema ${INTROSPECTION} } ${REFERENCE}`),
  document(
    'introspection at the limit of cost',
    (turn) =>
      `{ ${times(2, (at) => `a${turn}_${at}: __schema { types { fields { name args { name type { ...R } } type { ...R } } } }`)} } ${REFERENCE}`,
  ),
  document(
    'introspection at the limit of depth',
    (turn) =>
      `{ a${turn}: __type(name: "Task") { fields { type ${'{ ofType '.repeat(9)} { name } ${'}'.repeat(9)} } } }`,
  ),
  document(
    '29 introspections',
    (turn) => `{ ${times(29, (at) => `a${turn}_${at}: __schema { types { name fields { name type { name } } } }`)} }`,
  ),
  document(
    '790 operations',
    (turn) => `${times(790, (at) => `query Q${at} { __typename }`)} query Z { a${turn}: __typename }`,
    {
      operationName: 'Z',
    },
  ),
  document(
    'mutations of 30 aliases',
    (turn) =>
      `mutation { ${times(30, (at) => `m${at}: createTask(input: { title: "task ${turn}" }) { ${TASK_FIELDS.join(' ')} }`)} }`,
    {
      outcome: NO_USER,
    },
  ),
  document(
    'a login',
    (turn) =>
      `mutation { login(input: { email: "l${turn}@limits.example", password: "not the right one" }) { user { id } } }`,
    {
      outcome: '200 UNAUTHENTICATED',
    },
  ),
  document('everything unknown', (turn) => `{ ${times(600, (at) => `tsks${turn}_${at}(i: 1)`)} }`, {
    outcome: INVALID,
  }),
  document('a document that cannot be parsed', () => `{ a(b: "${'x'.repeat(LONG)}`, { outcome: UNPARSABLE }),

  document(
    'two pages of 1,000 tasks',
    (turn) =>
      `{ ${times(2, (at) => `a${turn}_${at}: tasks(first: 1000) { edges { cursor node { ${TASK_FIELDS.join(' ')} } } }`)} }`,
    {
      by: 'account',
    },
  ),
  document(
    '1,000 descriptions by three names',
    (turn) =>
      `{ a${turn}: tasks(first: 999) { edges { node { description ${times(2, (at) => `d${at}: description`)} } } } }`,
    {
      by: 'account',
    },
  ),
  document(
    'owners of 1,000 tasks',
    (turn) => `{ a${turn}: tasks(first: 1000) { edges { node { id owner { id name email emailConfirmedAt } } } } }`,
    { by: 'account' },
  ),
  document(
    'tasks of owners of tasks',
    (turn) =>
      `{ a${turn}: tasks(first: 30) { edges { node { owner { tasks(first: 25) { edges { node { ${TASK_FIELDS.join(' ')} owner { name } } } } } } } } }`,
    { by: 'account' },
  ),
  document(
    'statistics of owners',
    (turn) => `{ a${turn}: tasks(first: 1000) { edges { node { owner { taskStatistics { total } } } } } }`,
    {
      by: 'account',
    },
  ),
  document(
    '30 counts',
    (turn) => `{ ${times(30, (at) => `a${at}: tasks(filter: { category: "c${turn}_${at}" }) { totalCount }`)} }`,
    {
      by: 'account',
    },
  ),
  document(
    'the audit trail',
    (turn) => `{ ${times(4, (at) => `a${turn}_${at}: auditEntries(first: 1000) { id at kind sessionId ip }`)} }`,
    { by: 'account' },
  ),
  document(
    '30 updates',
    (turn) =>
      `mutation { ${times(30, (at) => `m${at}: updateTask(id: "00000000-0000-4000-8000-000000000000", input: { title: "task ${turn}" }) { ${TASK_FIELDS.join(' ')} }`)} }`,
    { by: 'account', outcome: '200 NOT_FOUND' },
  ),
];

const CREATE = 'mutation($input: CreateTaskInput!) { createTask(input: $input) { id } }';
const LIST = 'query($filter: TaskFilter) { tasks(filter: $filter) { totalCount } }';
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

const variables: readonly Case[] = [
  ...(['stranger', 'account'] as const).flatMap(
    (by) =>
      [
        document('4,900 unknown fields of an input', () => CREATE, {
          ...{ by, kind: 'variables', outcome: '200 BAD_USER_INPUT' },
          variables: (turn) => ({
            input: Object.fromEntries(Array.from({ length: 4_900 }, (_, at) => [`x${turn}_${at}`, 1])),
          }),
        }),
        document('a text of 1 MB', () => CREATE, {
          ...{ by, kind: 'variables', outcome: by === 'account' ? '200 BAD_USER_INPUT' : NO_USER },
          variables: (turn) => ({ input: { title: `${turn}${'😀'.repeat(250_000)}` } }),
        }),
        document('a category of 1 MB', () => LIST, {
          ...{ by, kind: 'variables', outcome: by === 'account' ? '200 BAD_USER_INPUT' : NO_USER },
          variables: (turn) => ({ filter: { category: `${turn}${'x'.repeat(1_000_000)}` } }),
        }),
        document('lists where none belongs', () => LIST, {
          ...{ by, kind: 'variables', outcome: '200 BAD_USER_INPUT' },
          variables: () => ({ filter: nested(27) }),
        }),
      ] satisfies Case[],
  ),
  document('4,900 variables that do not exist', () => '{ __typename }', {
    kind: 'variables',
    variables: (turn) =>
      Object.fromEntries(Array.from({ length: 4_900 }, (_, at) => [`v${turn}_${at}`, 'x'.repeat(100)])),
  }),
];

/** A body, to each path that reads one. */
function body(name: string, outcome: string, bytes: (turn: number) => Buffer | string, headers = {}): Case[] {
  return ['/graphql', '/api/auth/login'].map((path) => ({
    ...{ kind: 'body' as const, name: `${name}, to ${path}`, by: 'stranger' as const, outcome },
    send: async (product, _account, turn) =>
      outcomeOf(await product.send(path, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: bytes(turn) })),
  }));
}

const filled = (begin: string, part: string, end: string) =>
  begin + part.repeat(Math.floor((MIB - begin.length - end.length) / Buffer.byteLength(part))) + end;
const CHUNKED = 'transfer-encoding: chunked';
const LAST_CHUNK = '0\r\n\r\n';
const GZIP = { 'content-encoding': 'gzip' };
const BAD = '400 BAD_USER_INPUT';
const TOO_LARGE = '413 PAYLOAD_TOO_LARGE';
const MEMBERS = Buffer.concat(Array<Buffer>(Math.floor(MIB / 20) - 1).fill(gzipSync('')));

const bodies: readonly Case[] = [
  ...body('1 MiB of blanks', BAD, () => filled('{}', ' ', '')),
  ...body('a text of 1 MiB', BAD, () => filled('{"query2":"', 'x', '"}')),
  ...body('a text of escapes', BAD, () => filled('{"query2":"', '\\u0041', '"}')),
  ...body('half a million lists in lists', BAD, () => '['.repeat(MIB / 2) + ']'.repeat(MIB / 2)),
  ...body('half a million numbers', BAD, () => filled('{"a":[1', ',1', ']}')),
  ...body('a number of 1 MiB', BAD, () => filled('{"a":1', '1', '}')),
  ...body('95,000 keys', BAD, () => `{${Array.from({ length: 95_000 }, (_, at) => `"k${at}":1`).join(',')}}`),
  ...body('one key, many times', BAD, () => filled('{"a":1', ',"a":1', '}')),
  ...body('an error at the end', BAD, () => filled('{"a":"', 'x', '"')),
  ...body('bytes that are not UTF-8', BAD, () => Buffer.alloc(MIB, 0xff)),
  ...body('more than 1 MiB', TOO_LARGE, () => Buffer.alloc(MIB + 1, 0x20)),
  ...body('gzip of 1 MiB of blanks', BAD, () => gzipSync(filled('{}', ' ', '')), GZIP),
  ...body('gzip of 16 MiB of blanks', TOO_LARGE, () => gzipSync(Buffer.alloc(16 * MIB, 0x20)), GZIP),
  ...body('1 MiB of empty gzip members', BAD, () => MEMBERS, GZIP),
  rawJson('1 MiB but for its last byte', 'kept', `content-length: ${MIB}`, ' '.repeat(MIB - 1)),
  rawJson('4,000 pieces of a byte', '400', CHUNKED, '1\r\nx\r\n'.repeat(4_000) + LAST_CHUNK),
  rawJson('1,000,000 pieces of a byte', 'closed', CHUNKED, '1\r\nx\r\n'.repeat(1_000_000) + LAST_CHUNK),
  ...body('brotli', '415 UNSUPPORTED_MEDIA_TYPE', () => Buffer.alloc(14), { 'content-encoding': 'br' }),
];

/** A body whose bytes on the wire matter. */
function rawJson(name: string, outcome: string, framing: string, bytes: string): Case {
  return {
    ...{ kind: 'body', name, by: 'stranger', outcome },
    async send({ url }) {
      const received = await rawBody(`${url}/graphql`, framing, bytes);
      return received === '413' ? 'closed' : received; // the connection may end before the response is read
    },
  };
}

/** A header of nearly the greatest length, on a request that costs little otherwise. */
function header(name: string, value: (turn: number) => string, outcome = '200', path = '/graphql'): Case {
  return {
    ...{ kind: 'header', name: `${name}: 15,000 characters`, by: 'stranger', outcome },
    send: async (product, _account, turn) => {
      const post = {
        method: 'POST',
        headers: { ...JSON_TYPE, [name]: value(turn) },
        body: '{"query":"{ __typename }"}',
      };
      return outcomeOf(await product.send(path, path === '/graphql' ? post : { headers: post.headers }));
    },
  };
}

const HEADER = 15_000;
const NOT_ACCEPTABLE = '406 BAD_USER_INPUT';
const list = (part: string) => part.repeat(HEADER / part.length);

const headers: readonly Case[] = [
  header('accept', () => list('a/b;q=0.1,'), NOT_ACCEPTABLE),
  header('accept', () => `application/json${';a=b'.repeat(3_700)}`, NOT_ACCEPTABLE),
  header('accept', () => `application/json;q="${'\\"'.repeat(7_000)}`),
  header('accept-encoding', () => list('gzip;q=0.1,')),
  header('x-forwarded-for', () => list('10.0.0.1,')),
  header('forwarded', () => list('for=1;')),
  header('authorization', (turn) => `Bearer ${turn}${'x.'.repeat(7_000)}`),
  header('authorization', () => `Bearer${' '.repeat(14_000)}x`),
  header('cookie', () => list('a=b; ')),
  header('traceparent', () => list('00-')),
  header('tracestate', () => list('a=b,')),
  header('baggage', () => list('a=b,')),
  header('content-type', () => `application/json;${' charset=utf-8;'.repeat(900)}`),
  header('if-none-match', () => list('"a",'), '200', '/api/openapi.json'),
  header('if-none-match', () => list('W/'), '200', '/api/openapi.json'),
  header('accept-encoding', () => list('gzip;q=0.1,'), '200', '/api/openapi.json'),
];

/** A path and its query. */
function rest(
  name: string,
  by: Case['by'],
  outcome: string,
  path: (turn: number, account: Account) => string,
  sent: { method?: string; body?: (turn: number) => unknown } = {},
): Case {
  return {
    ...{ kind: 'REST', name, by, outcome },
    send: async (product, account, turn) =>
      outcomeOf(
        await product.send(path(turn, account), {
          method: sent.method ?? 'GET',
          headers: { ...bearer(by, account), ...(sent.body && JSON_TYPE) },
          ...(sent.body && { body: JSON.stringify(sent.body(turn)) }),
        }),
      ),
  };
}

const paths: readonly Case[] = [
  rest('a query of 3,000 parameters', 'stranger', '401 UNAUTHENTICATED', () => `/api/tasks?${'a=1&'.repeat(3_700)}`),
  rest(
    'a document in a query',
    'stranger',
    NO_USER,
    (turn) =>
      `/graphql?query=${encodeURIComponent(`{ ${times(25, (at) => `a${turn}_${at}: task(id: "1") { ${TASK_FIELDS.join(' ')} }`)} }`)}`,
  ),
  rest('a path of percent signs', 'stranger', '404 NOT_FOUND', () => `/api/${'%41'.repeat(5_000)}`),
  rest('a path of slashes', 'stranger', '404 NOT_FOUND', () => `/api${'/'.repeat(15_000)}`),
  rest('the description of the interface', 'stranger', '200', () => '/api/openapi.json'),
  rest('a failed login', 'stranger', '401 UNAUTHENTICATED', () => '/api/auth/login', {
    method: 'POST',
    body: (turn) => ({ email: `r${turn}@limits.example`, password: 'not the right one' }),
  }),
  rest(
    'a query of 3,000 parameters',
    'account',
    '400 BAD_USER_INPUT',
    () => `/api/tasks?${'completed=true&'.repeat(980)}`,
  ),
  rest('a list of 1,000 tasks', 'account', '200', () => '/api/tasks'),
  rest('a list of 1,000 tasks, reduced', 'account', '200', () => '/reduced/api/tasks?limit=1000'),
  rest('a list by priority', 'account', '200', () => '/api/tasks?sortBy=priority&order=asc&completed=false'),
  rest('a list behind the last page', 'account', '200', () => '/api/tasks?offset=2147483647'),
  rest('a category of 5,000 characters', 'account', '200', () => `/api/tasks?category=${'%F0%9F%98%80'.repeat(1_200)}`),
  rest('an update of 1 MB', 'account', '400 BAD_USER_INPUT', (_turn, { taskId }) => `/api/tasks/${taskId}`, {
    method: 'PATCH',
    body: () => ({ description: 'x'.repeat(1_000_000) }),
  }),
  rest('an update of the longest texts', 'account', '200', (_turn, { taskId }) => `/api/tasks/${taskId}`, {
    method: 'PATCH',
    body: (turn) => ({ title: '😀'.repeat(255), description: '😀'.repeat(2_000), category: `${turn}` }),
  }),
  rest('the export of an account', 'account', '200', () => '/api/auth/export'),
];

const FRAME = 65_000;

type Frames = (turn: number) => readonly unknown[];
function graphqlSocket(name: string, by: Case['by'], outcome: string, frames: Frames): Case {
  return {
    ...{ kind: 'socket', name, by, outcome },
    send: (product, { token }, turn) =>
      closed(graphqlWs(product.url, by === 'account' ? token : undefined, frames(turn))),
  };
}

function channelSocket(name: string, by: Case['by'], outcome: string, join: (turn: number) => object | string): Case {
  return {
    ...{ kind: 'socket', name, by, outcome },
    send: (product, { token }, turn) => {
      const asked = join(turn);
      const given = typeof asked === 'string' || by === 'stranger' ? asked : { ...asked, access_token: token };
      return closed(channel(product.url, given));
    },
  };
}

async function closed(opening: ReturnType<typeof channel>): Promise<string> {
  const { outcome, socket } = await opening;
  socket.terminate();
  return outcome;
}

const ping = (numbers: number) => `{"type":"ping","payload":{"a":[${'1,'.repeat(numbers)}12345678901234567]}}`;

const sockets: readonly Case[] = [
  graphqlSocket('a first frame of 64 KB', 'stranger', '4401', () => [
    { type: 'connection_init', payload: { x: 'x'.repeat(FRAME) } },
  ]),
  graphqlSocket('a first frame of lists in lists', 'stranger', '4400', () => ['['.repeat(FRAME)]),
  graphqlSocket('a ping of 32,000 numbers, one of them large', 'stranger', '4400', () => [ping(32_000)]),
  {
    ...graphqlSocket('200 pings of 9,000 numbers, one of them large', 'stranger', '1013', () =>
      Array.from({ length: 201 }, () => ping(9_000)),
    ),
    requests: 200,
  },
  graphqlSocket('a token of 60 KB', 'stranger', '4403', () => [
    { type: 'connection_init', payload: { authorization: `Bearer ${'x.'.repeat(30_000)}` } },
  ]),
  graphqlSocket('a document of 64 KB', 'account', 'error', (turn) => [
    { id: '1', type: 'subscribe', payload: { query: `{ ${times(1_900, (at) => `x${turn}_${at}`)} }` } },
  ]),
  graphqlSocket('a page of 1,000 tasks', 'account', 'next', (turn) => [
    {
      id: '1',
      type: 'subscribe',
      payload: { query: `{ a${turn}: tasks(first: 1000) { edges { node { ${TASK_FIELDS.join(' ')} } } } }` },
    },
  ]),
  {
    ...{ kind: 'socket', name: 'a message in 4,000 pieces, without an end', by: 'stranger', outcome: 'closed' },
    send: ({ url }) => fragments(url, 'x', 4_000),
  },
  channelSocket('a frame of lists in lists', 'stranger', 'dropped', () => '['.repeat(FRAME)),
  channelSocket('a join without a token, with 100 filters', 'stranger', 'join error', () => ({
    config: { postgres_changes: bindings(() => `category=in.(${'a,'.repeat(95)}a)`) },
  })),
  channelSocket('a filter of nearly 4,000 characters', 'stranger', 'join error', () => ({
    config: { postgres_changes: bindings(() => `category=in.(${'"\\\\",'.repeat(600)})`, 10) },
  })),
  channelSocket('a join with 100 filters', 'account', 'join ok', (turn) => ({
    config: { postgres_changes: bindings((at) => `category=in.(${turn}_${at},${'a,'.repeat(90)}a)`) },
  })),
  channelSocket('patterns', 'account', 'join ok', (turn) => ({
    config: { postgres_changes: bindings((at) => `description=like.*${turn}_${at}${'%a'.repeat(40)}`, 50) },
  })),
];

function bindings(filter: (at: number) => string, count = 100) {
  return Array.from({ length: count }, (_, at) => ({
    event: '*',
    schema: 'public',
    table: 'tasks',
    filter: filter(at),
  }));
}

const update = (product: MeasuredProduct, { token, taskId }: Account, turn: number) =>
  product.send(`/api/tasks/${taskId}`, {
    method: 'PATCH',
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
    body: JSON.stringify({ description: '😀'.repeat(2_000), category: `c${turn}` }),
  });

/** Costly subscriptions, and changes one after the other. */
function feed(name: string, subscriptions: number, count: number): Case {
  return {
    ...{ kind: 'change', name, by: 'account', outcome: 'next', requests: count },
    async send(product, account, turn) {
      const query = (at: number) => `subscription { taskChanges { task { a${turn}_${at}: owner {
        tasks(first: 1000) { edges { node { ${TASK_FIELDS.join(' ')} } } } } } } }`;
      const opening = Array.from({ length: subscriptions }, (_, at) =>
        subscribe(product.url, account.token, query(at)),
      );
      const streams = await Promise.all(opening);
      const outcomes = new Set<string>();
      for (let change = 0; change < count; change++) {
        const changed = update(product, account, turn * count + change);
        const [, ...received] = await Promise.all([changed, ...streams.map((stream) => stream.next())]);
        for (const outcome of received) outcomes.add(outcome);
      }
      for (const stream of streams) stream.close();
      return [...outcomes].join();
    },
  };
}

const changes: readonly Case[] = [
  feed('four subscriptions with 1,000 tasks each', 4, 1),
  feed('a subscription with 1,000 tasks beside ten changes', 1, 10),
  {
    ...{ kind: 'change', name: '50 patterns of channels', by: 'account', outcome: 'change' },
    send(product, account, turn) {
      const patterns = bindings((at) => `description=like.*${'%a'.repeat(40)}${at}`, 50);
      const join = {
        config: { postgres_changes: [...patterns, { event: '*', schema: 'public', table: 'tasks' }] },
        access_token: account.token,
      };
      return closed(channel(product.url, join, () => update(product, account, turn)));
    },
  },
];

export const CASES: readonly Case[] = [
  ...documents,
  ...variables,
  ...bodies,
  ...headers,
  ...paths,
  ...sockets,
  ...changes,
];

const MANY_AT_ONCE = new Set([
  ...['1,900 fields of 30 aliases', 'two pages of 1,000 tasks', 'introspection, as tools send it'],
  ...['a text of 1 MiB, to /graphql', 'gzip of 1 MiB of blanks, to /graphql', '1 MiB but for its last byte'],
  ...['4,000 pieces of a byte', 'a message in 4,000 pieces, without an end', 'a page of 1,000 tasks'],
  ...['a list of 1,000 tasks', 'the export of an account', 'a join with 100 filters'],
]);

/** Those that hold the most memory for a time. */
export const CROWDED = CASES.filter(({ name }) => MANY_AT_ONCE.has(name));

/** What a case's request came to. */
function outcomeOf({ status, body: text }: Reply): string {
  const code = text.startsWith('{"openapi"') ? undefined : /"code":"([A-Z_]+)"/.exec(text)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}
