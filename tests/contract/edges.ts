import { createClient } from './client.ts';
import type { Platform } from './platform.ts';
import { expectError, type Envelope } from './shapes.ts';

/** Which methods each path knows. */
const PATHS: Record<string, string> = {
  '/api/auth/signup': 'POST',
  '/api/auth/login': 'POST',
  '/api/auth/logout': 'POST',
  '/api/auth/me': 'GET, HEAD',
  '/api/auth/forgot-password': 'POST',
  '/api/auth/reset-password': 'POST',
  '/api/auth/refresh': 'POST',
  '/full/api/tasks': 'GET, HEAD, POST',
  '/full/api/tasks/stats': 'GET, HEAD',
  '/full/api/tasks/0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d': 'GET, HEAD, PATCH, DELETE',
  '/reduced/api/tasks': 'GET, HEAD, POST',
  '/reduced/api/tasks/0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d': 'GET, HEAD, PATCH, DELETE',
};

const inOrder = (methods: string | null) => (methods ?? '').split(', ').toSorted();
const envelopeOf = (path: string): Envelope => (path.startsWith('/full/api/tasks') ? 'tasks' : 'plain');

/** What holds for every path: methods, unknown ways in, bodies, headers. */
export function describeEdges(platform: () => Platform) {
  const client = createClient(() => platform().url);

  describe.each(Object.entries(PATHS))('%s', (path, methods) => {
    const allowed = inOrder(`${methods}, OPTIONS`);

    it('says to OPTIONS what it knows, without a token', async () => {
      const { status, headers, text } = await client.call('OPTIONS', path);
      expect([status, text]).toEqual([204, '']);
      expect(inOrder(headers.get('allow'))).toEqual(allowed);
    });

    it('refuses every other method in JSON, before a token is asked for', async () => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => !allowed.includes(each))) {
        const answer = await client.call(method, path, { headers: { 'x-http-method-override': 'GET' } });
        expectError(answer, { status: 405, code: 'METHOD_NOT_ALLOWED', envelope: envelopeOf(path) });
        expect(inOrder(answer.headers.get('allow'))).toEqual(allowed);
      }
    });
  });

  describe('an unknown path', () => {
    it.each([
      '/api',
      '/api/nowhere',
      '/API/tasks',
      '/api/Tasks',
      '//api/tasks',
      '/api/tasks/x/y',
      '/api/tasks/%',
      '/api/tasks/%ff',
      '/full/tasks',
      '/reduced/api/nowhere',
      '/reset-password/other.js',
    ])('%s is a 404 in JSON', async (path) => {
      expectError(await client.call('GET', path, { headers: { accept: 'text/html' } }), {
        status: 404,
        code: 'NOT_FOUND',
        envelope: 'plain',
      });
    });
  });

  it('/ is a page for browsers, and for programs a 404 in JSON', async () => {
    const { status, headers } = await client.call('GET', '/', { headers: { accept: 'text/html' } });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const method of ['GET', 'POST', 'DELETE'])
      expectError(await client.call(method, '/'), { status: 404, code: 'NOT_FOUND', envelope: 'plain' });
  });

  describe('a body', () => {
    const post = (raw: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
      client.call('POST', '/api/auth/login', { raw, headers });

    it.each([
      ['text/plain'],
      ['application/x-www-form-urlencoded'],
      ['multipart/form-data; boundary=x'],
      ['application/xml'],
      ['application/json; charset=iso-8859-1'],
      ['nonsense'],
    ])('of type %s is a 415', async (type) => {
      expectError(await post('{}', { 'content-type': type }), {
        status: 415,
        code: 'UNSUPPORTED_MEDIA_TYPE',
        envelope: 'plain',
      });
    });

    it.each(['', '{', '[]', '5', 'null', '"x"', '{"email":"a@b.c",}', 'NaN', '{/**/}', '['.repeat(20_000)])(
      'that is no JSON object is a 400: %j',
      async (raw) => {
        const answer = await post(raw);
        expectError(answer, { status: 400, code: 'BAD_USER_INPUT', envelope: 'plain' });
      },
    );

    it('that is no UTF-8 is a 400', async () => {
      const raw = Buffer.concat([
        Buffer.from('{"email":"'),
        Buffer.from([0xff, 0xff]),
        Buffer.from('","password":"x"}'),
      ]);
      expectError(await post(raw), { status: 400, code: 'BAD_USER_INPUT', envelope: 'plain' });
    });

    it('over one mebibyte is a 413, and one of just that size is read', async () => {
      const padded = (bytes: number) => `{"email":"a@b.c","password":"x"${' '.repeat(bytes - 32)}}`;
      expect(padded(1_024).length).toBe(1_024);
      expectError(await post(padded(1_024 * 1_024 + 1)), { status: 413, code: 'PAYLOAD_TOO_LARGE', envelope: 'plain' });
      expect((await post(padded(1_024 * 1_024))).status).toBe(401);
    });
  });

  it('names each answer with an id of its own', async () => {
    const ids = [];
    for (const path of ['/livez', '/api/tasks', '/nowhere']) {
      const { headers } = await client.call('GET', path, { headers: { 'x-request-id': 'theirs' } });
      ids.push(headers.get('x-request-id'));
    }
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain('theirs');
    expect(ids).not.toContain(null);
  });

  it('tells of its life and readiness, and describes itself', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, body } = await client.call<object>('GET', path);
      expect([status, body]).toEqual([200, { status: 'ok' }]);
    }
    const document = await client.call<{ openapi: string }>('GET', '/api/openapi.json');
    expect(document.body.openapi).toMatch(/^3\.1/);
    expect((await client.call('GET', '/api/docs')).headers.get('content-type')).toMatch(/^text\/html/);
  });
}
