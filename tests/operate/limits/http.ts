import { gzipSync } from 'node:zlib';
import { bearer, JSON_TYPE, MIB, NO_USER, outcomeOf, replacedValue, TASK_FIELDS, times } from './case.ts';
import type { Account, Case } from './case.ts';
import { rawBody } from './sockets.ts';

/** A body, sent to each path that reads one. */
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
const REPLACED = replacedValue({ levels: 2_480, keyLength: 300, integers: 4_900 });
const MEMBERS = Buffer.concat(Array<Buffer>(Math.floor(MIB / 20) - 1).fill(gzipSync('')));

const bodies: readonly Case[] = [
  ...body('1 MiB of blanks', BAD, () => filled('{}', ' ', '')),
  ...body('a text of 1 MiB', BAD, () => filled('{"query2":"', 'x', '"}')),
  ...body('a text of escapes', BAD, () => filled('{"query2":"', '\\u0041', '"}')),
  ...body('half a million lists in lists', BAD, () => '['.repeat(MIB / 2) + ']'.repeat(MIB / 2)),
  ...body('a number of 1 MiB', BAD, () => filled('{"a":1', '1', '}')),
  ...body('95,000 keys', BAD, () => `{${Array.from({ length: 95_000 }, (_, at) => `"k${at}":1`).join(',')}}`),
  ...body('large integers that a repeated key replaces', BAD, () => `{${REPLACED}}`),
  ...body('gzip of large integers that a repeated key replaces', BAD, () => gzipSync(`{${REPLACED}}`), GZIP),
  ...body('bytes that are not UTF-8', BAD, () => Buffer.alloc(MIB, 0xff)),
  ...body('more than 1 MiB', TOO_LARGE, () => Buffer.alloc(MIB + 1, 0x20)),
  ...body('gzip of 1 MiB of blanks', BAD, () => gzipSync(filled('{}', ' ', '')), GZIP),
  ...body('gzip of 16 MiB of blanks', TOO_LARGE, () => gzipSync(Buffer.alloc(16 * MIB, 0x20)), GZIP),
  ...body('1 MiB of empty gzip members', BAD, () => MEMBERS, GZIP),
  rawJson('1 MiB but for its last byte', 'kept', `content-length: ${MIB}`, ' '.repeat(MIB - 1)),
  rawJson('4,000 pieces of a byte', '400', CHUNKED, '1\r\nx\r\n'.repeat(4_000) + LAST_CHUNK),
  rawJson('4,000 pieces of a byte', '400', CHUNKED, '1\r\nx\r\n'.repeat(4_000) + LAST_CHUNK, 'account'),
  rawJson('1,000,000 pieces of a byte', 'closed', CHUNKED, '1\r\nx\r\n'.repeat(1_000_000) + LAST_CHUNK),
  ...body('brotli', '415 UNSUPPORTED_MEDIA_TYPE', () => Buffer.alloc(14), { 'content-encoding': 'br' }),
];

/** A connection that is still open after this time counts as `kept`. */
const UNANSWERED_MS = 2_000;

/** A body that must be sent byte for byte: of an account over REST, where its sender is known before it is read. */
function rawJson(name: string, outcome: string, framing: string, bytes: string, by: Case['by'] = 'stranger'): Case {
  return {
    ...{ kind: 'body', name, by, outcome },
    async send({ url }, { token }) {
      const [path, head] =
        by === 'account' ? ['/api/tasks', `${framing}\r\nauthorization: Bearer ${token}`] : ['/graphql', framing];
      const received = await rawBody(url + path, head, bytes, outcome === 'kept' ? UNANSWERED_MS : undefined);
      return received === '413' ? 'closed' : received; // the connection may end before the response is read
    },
  };
}

/** A header of nearly the maximum length, on an otherwise cheap request. */
function header(name: string, value: (turn: number) => string, outcome = '200', path = '/graphql'): Case {
  return {
    ...{ kind: 'header', name: `${name}: 15,000 characters`, by: 'stranger', outcome },
    send: async (product, _account, turn) => {
      const headers = { ...JSON_TYPE, [name]: value(turn) };
      const post = { method: 'POST', headers, body: '{"query":"{ __typename }"}' };
      return outcomeOf(await product.send(path, path === '/graphql' ? post : { headers }));
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
  header('authorization', (turn) => `Bearer ${turn}${'x.'.repeat(7_000)}`),
  header('authorization', () => `Bearer${' '.repeat(14_000)}x`),
  header('cookie', () => list('a=b; ')),
  header('traceparent', () => list('00-')),
  header('baggage', () => list('a=b,')),
  header('content-type', () => `application/json;${' charset=utf-8;'.repeat(900)}`),
  header('if-none-match', () => list('"a",'), '200', '/api/openapi.json'),
  header('if-none-match', () => list('W/'), '200', '/api/openapi.json'),
  header('accept-encoding', () => list('gzip;q=0.1,'), '200', '/api/openapi.json'),
];

/** A path with its query. */
type Path = (turn: number, account: Account) => string;
type Body = { method?: string; body?: (turn: number) => unknown };
function rest(name: string, by: Case['by'], outcome: string, path: Path, sent: Body = {}): Case {
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
  rest('a document in a query', 'stranger', NO_USER, (turn) => {
    const document = `{ ${times(25, (at) => `a${turn}_${at}: task(id: "1") { ${TASK_FIELDS.join(' ')} }`)} }`;
    return `/graphql?query=${encodeURIComponent(document)}`;
  }),
  rest('variables that a repeated key replaces', 'stranger', '200', () => {
    const variables = replacedValue({ levels: 500, keyLength: 1, integers: 300 });
    const written = encodeURIComponent(`{${variables}}`).replaceAll('%3A', ':').replaceAll('%2C', ',');
    return `/graphql?query=%7B__typename%7D&variables=${written}`;
  }),
  rest('a path of percent signs', 'stranger', '404 NOT_FOUND', () => `/api/${'%41'.repeat(5_000)}`),
  rest('a path of slashes', 'stranger', '404 NOT_FOUND', () => `/api${'/'.repeat(15_000)}`),
  rest('the description of the interface', 'stranger', '200', () => '/api/openapi.json'),
  rest('a failed login', 'stranger', '401 UNAUTHENTICATED', () => '/api/auth/login', {
    method: 'POST',
    body: (turn) => ({ email: `r${turn}@limits.example`, password: 'not the right one' }),
  }),
  rest('a list of 1,000 tasks', 'account', '200', () => '/api/tasks'),
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

export const requests = [...bodies, ...headers, ...paths];
