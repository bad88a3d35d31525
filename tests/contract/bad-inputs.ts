import { randomUUID } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { newEmail, PASSWORD } from '../http.ts';
import type { CallOptions } from './client.ts';
import { words } from './shapes.ts';

/** A request that must be refused. `{id}` in the path stands for a task of the caller. */
export interface BadInput {
  status: number;
  method: string;
  path: string;
  /** A short form of the input, for the report. */
  shown: string;
  options: CallOptions;
  /** Sent without the caller's token: to public endpoints, or to be refused for the missing token. */
  anonymous?: boolean;
}

const chars = (count: number, character = 'x') => character.repeat(count);
const short = (value: unknown) => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 60 ? `${text.slice(0, 50)}… (${text.length})` : text;
};
/** JSON can express a lone surrogate only as an escape, which `JSON.stringify` writes. */
const LONE = '\ud800';
const NOT_STRINGS = [5, true, [], {}];

const BAD_TITLES = [
  ...[null, ...NOT_STRINGS, '', 'ab', '😀a', chars(256), chars(256, '😀'), '   '],
  ...['\u200b\u200b\u200b', 'a\u0000bc', `ab${LONE}c`],
];
const BAD_DESCRIPTIONS = [...NOT_STRINGS, chars(2_001), chars(2_001, '😀'), 'nul \u0000', LONE];
const BAD_CATEGORIES = [...NOT_STRINGS, chars(256), chars(10_000), '\u0000', `x${LONE}`];
const BAD_PRIORITIES = ['High', 'HIGH', 'urgent', '', ' low', null, ...NOT_STRINGS];
const BAD_COMPLETED = ['true', 'false', '', 'yes', 1, 0, null, [], {}];
const BAD_DUE_DATES = [
  ...[...NOT_STRINGS, '', 'Jan 1 2026', '2026-01-01 00:00:00Z', ' 2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z\n'],
  ...words(`
    2026-01-01T00:00:00 2026-01-01 2026-02-30T00:00:00Z 2025-02-29T00:00:00Z 2026-13-01T00:00:00Z
    2026-00-10T00:00:00Z 2026-01-00T00:00:00Z 2026-01-01T23:59:60Z 2026-01-01T24:00:00Z 2026-01-01T00:60:00Z
    +275760-09-13T00:00:00Z -000001-01-01T00:00:00Z 0000-01-01T00:00:00Z 10000-01-01T00:00:00Z
    0001-01-01T00:00:00+01:00 9999-12-31T23:59:59-01:00 infinity now yesterday 1 2026-1-1 2026-001 2026-W01
    2026-01-01T00:00:00+24:00 2026-01-01T00:00:00+0100 2026-01-01T00:00:00.Z`),
];
const FIELDS: Record<string, unknown[]> = {
  title: BAD_TITLES,
  description: BAD_DESCRIPTIONS,
  category: BAD_CATEGORIES,
  priority: BAD_PRIORITIES,
  completed: BAD_COMPLETED,
  dueDate: BAD_DUE_DATES,
};

const body = (method: string, path: string, json: object): BadInput => ({
  ...{ status: 400, method, path, shown: short(json), options: { json } },
});

const withHeader = (method: string, path: string, name: string, value: string, status = 400): BadInput => ({
  ...{ status, method, path, shown: `${name} ${short(value)}` },
  options: { ...(method !== 'DELETE' && { json: { title: 'Never stored' } }), headers: { [name]: value } },
});

function taskBodies(): BadInput[] {
  const forms = [
    { method: 'POST', path: '/api/tasks', fields: Object.keys(FIELDS), rest: { title: 'Never stored' } },
    { method: 'PATCH', path: '/api/tasks/{id}', fields: Object.keys(FIELDS), rest: {} },
    { method: 'POST', path: '/reduced/api/tasks', fields: ['title', 'description'], rest: { title: 'Never stored' } },
    { method: 'PATCH', path: '/reduced/api/tasks/{id}', fields: ['title', 'description', 'completed'], rest: {} },
  ];
  return forms.flatMap(({ method, path, fields, rest }) => [
    ...fields.flatMap((field) => (FIELDS[field] ?? []).map((value) => body(method, path, { ...rest, [field]: value }))),
    ...(method === 'POST' ? [body(method, path, {}), body(method, path, { due_date: '2026-01-01T00:00:00Z' })] : []),
    ...(fields.includes('dueDate') ? [body(method, path, { ...rest, due_date: 'nonsense' })] : []),
  ]);
}

const BAD_IDS = [
  ...words(`
    abc 1 -1 ffffffff-ffff-ffff-ffff-fffffffffffff %7B0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d%7D
    0199e1c30a417d1e8d5c2f6a8a1b9c3d urn:uuid:0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d
    00000000-0000-0000-0000-000000000000 0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d {id}%00 {id}%0a {id}%20 a%2fb
    %F0%9F%98%80 __proto__ constructor STATS % %ff ..%2f`),
  "'%20or%201=1",
  chars(100),
  chars(8_000),
];

function taskIds(): BadInput[] {
  return ['/api', '/reduced/api'].flatMap((prefix) =>
    BAD_IDS.flatMap((id) =>
      ['GET', 'PATCH', 'DELETE'].map((method): BadInput => ({
        ...{ status: 404, method, path: `${prefix}/tasks/${id}`, shown: 'that id' },
        options: method === 'PATCH' ? { json: { title: 'Never stored' } } : {},
      })),
    ),
  );
}

function queries(): BadInput[] {
  const values: Record<string, string[]> = {
    completed: ['TRUE', '1', '', 'null', 'true%00', 'true+', 'true&completed=false', 'true&%63ompleted=true'],
    priority: ['urgent', 'LOW', 'High', '', 'low&priority=low'],
    sortBy: ['title', 'created_at;drop', 'createdAt', '__proto__', 'updated_at', ''],
    order: ['ASC', 'random', ''],
    limit: ['0', '-1', '1001', '1.5', '1e2', 'x', '', '+1', '%31%20', '0x10', '99999999999999999999'],
    offset: ['-1', 'x', '', '1.0', '2147483648', '99999999999999999999'],
    category: ['%00', '%ff', '%', '%c3%28', '%ed%a0%80', 'a&category=b'],
    unknown: ['%ff'],
    '%ff': ['1'],
  };
  const reduced: Record<string, string[]> = {
    status: ['x', '', 'ALL', 'all&status=all'],
    sort: ['title', 'due_date', '', 'created_at&sort=created_at'],
    order: ['x', 'ASC'],
    page: ['0', 'x', '-1', '', '99999999'],
    limit: ['0', '1001', 'x'],
  };
  const of = (path: string, each: Record<string, string[]>) =>
    Object.entries(each).flatMap(([name, list]) =>
      list.map((value): BadInput => ({
        ...{ status: 400, method: 'GET', path: `${path}?${name}=${value}`, shown: '', options: {} },
      })),
    );
  return [...of('/api/tasks', values), ...of('/reduced/api/tasks', reduced)];
}

const valid = () => ({ email: newEmail(), password: PASSWORD, name: 'Ada' });
/** Public endpoints of accounts. */
const open = (path: string, json: unknown, status = 400): BadInput => ({
  ...{ status, method: 'POST', path: `/api/auth/${path}`, shown: short(json), options: { json }, anonymous: true },
});

function accounts(): BadInput[] {
  const BAD_EMAILS = [
    ...['', ' ', 'a', 'a@', '@b', 'a b@c', 'a@b@c', 'a@b.c\r\nBcc: x@y.z', 'a@b.c\nx', 'a@b.c\u0000'],
    ...[`${chars(251)}@b.c`, `${LONE}@b.c`, 'a\u0085@b.c', null, ...NOT_STRINGS],
  ];
  const signUps = {
    email: [undefined, ...BAD_EMAILS],
    password: [
      ...[undefined, null, ...NOT_STRINGS, '', chars(7), chars(129), chars(129, '😀'), chars(2_000), chars(10, ' ')],
      ...['password123', `long enough${LONE}`, 'long enough\u0000'],
    ],
    name: [undefined, null, ...NOT_STRINGS, '', '   ', '\u200b', chars(256), chars(256, '😀'), 'a\u0000b', LONE],
  };
  return [
    ...Object.entries(signUps).flatMap(([field, values]) =>
      values.map((value) => open('signup', { ...valid(), [field]: value })),
    ),
    ...BAD_EMAILS.map((email) => open('forgot-password', { email })),
    open('forgot-password', {}),
    ...[undefined, null, ...NOT_STRINGS, chars(1_025)].flatMap((value) => [
      open('login', { ...valid(), email: value }),
      open('login', { ...valid(), password: value }),
      open('reset-password', { token: value, password: PASSWORD }),
      open('reset-password', { token: 'nonsense', password: value }),
      open('refresh', { refresh_token: value }),
    ]),
    open('login', { email: { $ne: null }, password: { $ne: null } }),
    open('login', { email: 'unknown@example.com', password: "' or 1=1 --" }, 401),
    open('reset-password', { token: 'nonsense', password: PASSWORD }),
    open('reset-password', { token: '\u0000', password: PASSWORD }),
    open('refresh', { refresh_token: 'nonsense' }, 401),
    open('refresh', { refresh_token: '' }),
  ];
}

function bodies(): BadInput[] {
  const targets = [
    ...each('POST', '/api/tasks /reduced/api/tasks /api/auth/login'),
    ...each('PATCH', '/api/tasks/{id}'),
  ];
  const raw = (status: number, shown: string, text: string | Buffer<ArrayBuffer>, headers = {}): BadInput[] =>
    targets.map((target) => ({ ...target, status, shown, options: { raw: text, headers } }));
  const good = '{"title":"Never stored"}';
  const inUnknown = (json: string) => `{"title":"Never stored","x":${json}}`;
  const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
  const typed = (type: string) => raw(415, `type ${type}`, good, { 'content-type': type });
  const encoded = (status: number, encoding: string, bytes: string | Buffer<ArrayBuffer>) =>
    raw(status, `${encoding} of ${bytes.length}`, bytes, { 'content-encoding': encoding });
  return [
    ...[
      ...['', '{', good.slice(0, -1), `${good}x`, '[]', `[${good}]`, '"x"', 'null', '5', '  ', '{"title":"abc",}'],
      ...['{"title":NaN}', '{"title":1e400}', "{'title':'Never stored'}", `${good}${good}`, `${good}\u0000`],
      ...[`\ufeff\ufeff${good}`, `{/**/${good.slice(1)}`, '\u0000'],
    ].flatMap((text) => raw(400, `the body ${short(text)}`, text)),
    ...raw(400, 'no UTF-8', Buffer.concat([Buffer.from('{"title":"ab'), Buffer.from([0xff, 0xff]), Buffer.from('"}')])),
    ...raw(400, 'an overlong UTF-8 form', Buffer.from('7b227469746c65223a226162c0af227d', 'hex')),
    ...raw(400, 'UTF-16', Buffer.from(good, 'utf16le')),
    ...raw(400, '32 nested arrays', inUnknown(nested(32))),
    ...raw(400, '10,001 keys and values', inUnknown(`[${'0,'.repeat(9_995)}0]`)),
    ...raw(400, '5,000 unknown fields', inUnknown(Array.from({ length: 5_000 }, (_, at) => `0,"${at}":0`).join(''))),
    ...raw(400, '100,000 objects', '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)),
    ...raw(400, '20,000 arrays in a field', inUnknown(nested(20_000))),
    ...raw(413, 'a byte too much', good.padEnd(1_024 * 1_024 + 1)),
    ...encoded(413, 'gzip', gzipped(Buffer.alloc(50 * 1_024 * 1_024, ' '))),
    ...encoded(413, 'deflate', Buffer.from(deflateSync(Buffer.alloc(50 * 1_024 * 1_024)))),
    ...encoded(400, 'gzip', gzipped(Buffer.from(good)).subarray(0, 12)),
    ...encoded(415, 'gzip, gzip', gzipped(gzipped(Buffer.from(good)))),
    ...encoded(400, 'gzip', good),
    ...['zstd', 'br', 'x-nonsense'].flatMap((encoding) => encoded(415, encoding, good)),
    ...[
      ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'],
      ...['utf-16', 'iso-8859-1', ''].map((charset) => `application/json; charset=${charset}`),
      ...['application/vnd.api+json', 'application/jsonx', 'text/json', 'nonsense', 'json', '*/*'],
    ].flatMap(typed),
    {
      ...body('POST', '/api/tasks', {}),
      ...{ shown: 'a title of the prototype', options: { raw: '{"__proto__":{"title":"Never stored"}}' } },
    },
    ...[chars(256), ''].map((key) => withHeader('POST', '/api/tasks', 'idempotency-key', key)),
    withHeader('PATCH', '/api/tasks/{id}', 'if-match', '"77"', 412),
    withHeader('DELETE', '/api/tasks/{id}', 'if-match', 'W/"1"', 412),
  ];
}

function gzipped(bytes: Buffer): Buffer<ArrayBuffer> {
  return Buffer.from(gzipSync(bytes));
}

/** Combines each of these methods with each of these paths. */
const each = (methods: string, paths: string) =>
  words(paths).flatMap((path) => words(methods).map((method) => ({ method, path, shown: '' })));

function pathsAndTokens(): BadInput[] {
  const notThere = [
    ...each('GET', '/API/tasks /api/tasks/{id}/x /reduced/api/tasks/stats'),
    ...each('DELETE', '/api/Tasks/{id} //api/tasks/{id}'),
    ...each('POST', '/tasks'),
  ];
  const ofUsers = [
    ...each('GET POST', '/api/tasks /reduced/api/tasks'),
    ...each('PATCH DELETE', '/api/tasks/{id} /reduced/api/tasks/{id}'),
    ...each('GET', '/api/tasks/stats /reduced/api/tasks/{id} /api/auth/me'),
    ...each('POST', '/api/auth/logout'),
  ];
  const BAD_AUTHORIZATIONS = ['', 'Bearer', 'Basic dXNlcjpwYXNz', 'Bearer a b', 'Bearer nonsense', 'Bearer a.b.c'];
  const anonymous = true;
  const options = { headers: { 'x-http-method-override': 'GET' } };
  return [
    ...notThere.map((target) => ({ ...target, status: 404, options })),
    ...ofUsers.flatMap((target) =>
      BAD_AUTHORIZATIONS.map((authorization) => ({
        ...{ ...target, status: 401, shown: short(authorization), options: { headers: { authorization } }, anonymous },
      })),
    ),
  ];
}

/** The catalogue of invalid inputs, sent by mistake or on purpose, and how each is refused. */
export const badInputs = (): Record<string, BadInput[]> => ({
  'bodies of tasks': taskBodies(),
  'ids of tasks': taskIds(),
  'queries of lists': queries(),
  'requests about accounts': accounts(),
  'bodies that cannot be read': bodies(),
  'paths and tokens': pathsAndTokens(),
});

interface GoodInput {
  what: string;
  body: string | Buffer<ArrayBuffer>;
  headers?: Record<string, string>;
}

/** Valid bodies of a new task that look wrong, or have the maximum size. */
export function goodTasks(): GoodInput[] {
  const good = '{"title":"abc"}';
  const task = (fields: object): GoodInput => {
    const text = JSON.stringify({ title: 'abc', ...fields });
    return { what: short(text), body: text };
  };
  const encoded = (encoding: string, body: Buffer): GoodInput => ({
    ...{ what: `encoded as ${encoding}`, body: Buffer.from(body), headers: { 'content-encoding': encoding } },
  });
  return [
    ...['abc', chars(255), chars(3, '😀'), chars(255, '😀'), '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'].map((title) =>
      task({ title }),
    ),
    ...["1'; drop table tasks; --", '<script>{{7*7}}${jndi:ldap://x}</script>'].map((title) => task({ title })),
    ...[chars(2_000), '', null].map((description) => task({ description })),
    ...['', null, chars(255, '😀')].map((category) => task({ category })),
    ...['low', 'medium', 'high'].map((priority) => task({ priority })),
    ...['2026-01-01T00:00:00-00:00', '2024-02-29T00:00:00Z', '9999-12-31T23:59:59Z', null].map((dueDate) =>
      task({ dueDate }),
    ),
    task({ id: 'x', user_id: 'x', created_at: 'x', isAdmin: true, version: 7 }),
    task(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}`, at]))),
    { what: 'a byte order mark', body: `\ufeff${good}` },
    { what: 'exactly 1 MiB', body: good.padEnd(1_024 * 1_024) },
    { what: '31 nested arrays', body: `{"title":"abc","x":${'['.repeat(31)}1${']'.repeat(31)}}` },
    { what: '10,000 keys and values', body: `{"title":"abc","x":[${'"\\"{,",'.repeat(9_994)}0]}` },
    ...['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'].map((type) => ({
      ...{ what: type, body: good, headers: { 'content-type': type } },
    })),
    { what: 'a parameter of JSON', body: good, headers: { 'content-type': 'application/json; profile=x' } },
    encoded('gzip', gzipSync(good)),
    encoded('GZIP', gzipSync(good)),
    encoded('deflate', deflateSync(good)),
    encoded('identity', Buffer.from(good)),
  ];
}

/** Valid sign-ups that look wrong. */
export const goodSignUps = (): object[] => [
  { ...valid(), email: `"quoted+${randomUUID()}"@example.com` },
  { ...valid(), email: `jos\u00e9${randomUUID()}@b\u00fccher.example` },
  { ...valid(), email: `  ${newEmail()}  ` },
  ...[chars(8), chars(128), chars(128, '\u{1f600}')].map((password) => ({ ...valid(), password })),
  { ...valid(), name: '\u05e9\u05dc\u05d5\u05dd \u{1f44b}' },
  { ...valid(), name: "<script>alert(1)</script>'; drop table accounts; --" },
  { ...valid(), id: 'x', isAdmin: true, user_id: 1 },
];
