import type { ApiDescription } from '@taskmesh/testing/api-description';
import { exchange } from '@taskmesh/testing/raw';
import { type Account, clientOf, type Platform, rawRequest } from './client.ts';
import { casesOf, expectError, words } from './shapes.ts';

/** The methods of each path. */
const PATHS: Record<string, string> = {
  ...Object.fromEntries(
    words('signup login logout forgot-password reset-password refresh').map((name) => [`/api/auth/${name}`, 'POST']),
  ),
  '/api/auth/me': 'GET, HEAD',
  '/full/api/tasks/stats': 'GET, HEAD',
  ...Object.fromEntries(
    ['/full/api/tasks', '/reduced/api/tasks'].flatMap((path) => [
      [path, 'GET, HEAD, POST'],
      [`${path}/0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d`, 'GET, HEAD, PATCH, DELETE'],
    ]),
  ),
};

const inOrder = (methods: string | null) => (methods ?? '').split(', ').toSorted();

/** Rules for every path: methods, unknown paths, bodies, headers. */
export function describeEdges(platform: () => Platform) {
  const client = clientOf(platform);

  it.each(Object.entries(PATHS))(
    '%s has the methods %s, and rejects others in JSON, without a token',
    async (path, has) => {
      const allowed = inOrder(`${has}, OPTIONS`);
      const { status, headers, text } = await client.call('OPTIONS', path);
      expect([status, text, inOrder(headers.get('allow'))]).toEqual([204, '', allowed]);
      const envelope = path.startsWith('/full/api/tasks') ? 'tasks' : 'plain';
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((each) => !allowed.includes(each))) {
        const response = await client.call(method, path, { headers: { 'x-http-method-override': 'GET' } });
        expectError(response, { status: 405, code: 'METHOD_NOT_ALLOWED', envelope });
        expect(inOrder(response.headers.get('allow'))).toEqual(allowed);
      }
    },
  );

  it.each([
    ['/full/api', /^\/api\/(?!backup|operations)/],
    ['/reduced/api', /^\/api\/auth\//],
  ])('%s has the paths of /api', async (prefix, paths) => {
    const { body } = await client.call<ApiDescription>('GET', '/api/openapi.json');
    const served = Object.keys(body.paths).filter((path) => paths.test(path));
    expect(served.length).toBeGreaterThan(15);
    const allowOf = async (path: string) => (await client.call('OPTIONS', path)).headers.get('allow');
    for (const path of served) {
      const at = path.replace(/\{\w+\}/, 'x');
      expect([path, await allowOf(at.replace('/api', prefix))]).toEqual([path, await allowOf(at)]);
    }
  });

  it('gives each response a request id of its own', async () => {
    const ids = new Set<string | null>();
    for (const path of ['/livez', '/api/tasks', '/nowhere', '/api/docs'])
      ids.add((await client.call('GET', path, { headers: { 'x-request-id': 'theirs' } })).headers.get('x-request-id'));
    expect([ids.size, ids.has('theirs'), ids.has(null)]).toEqual([4, false, false]);
  });

  it('reports liveness and readiness, and describes itself', async () => {
    for (const path of ['/livez', '/readyz']) {
      const { status, body } = await client.call<object>('GET', path);
      expect([status, body]).toEqual([200, { status: 'ok' }]);
    }
    expect((await client.call<{ openapi: string }>('GET', '/api/openapi.json')).body.openapi).toMatch(/^3\.1/);
    expect((await client.call('GET', '/api/docs')).headers.get('content-type')).toMatch(/^text\/html/);
  });

  describe('on the wire', () => {
    const JSON_TYPE = 'Content-Type: application/json';
    const LARGE = `Content-Length: ${50 * 1_024 * 1_024}`;
    const GOOD = '{"title":"abc"}';
    const stranger = 'Authorization: Bearer nonsense';
    let account: Account;
    beforeAll(async () => {
      account = await client.signUp();
    });
    const bearer = () => `Authorization: Bearer ${account.token}`;
    const send = (line: string, headers: readonly string[] = [], body: string | Buffer = '') =>
      exchange(platform().url, rawRequest(line, ['Host: localhost', ...headers], body));

    it.each<[string, number, string, string[], string]>([
      ['route before method', 404, 'PUT /api/nothing', [], ''],
      ['method before token', 405, 'PUT /api/tasks', [stranger], ''],
      ['method before body', 405, 'PUT /api/tasks', ['Content-Type: nonsense', 'Content-Length: 3'], '{"a'],
      ['token before type', 401, 'POST /api/tasks', [stranger, 'Content-Type: text/plain', 'Content-Length: 2'], '{}'],
      ['token before size', 401, 'POST /api/tasks', [stranger, JSON_TYPE, LARGE], ''],
      ['token before JSON', 401, 'POST /api/tasks', [stranger, JSON_TYPE, 'Content-Length: 1'], '{'],
      ['token before query', 401, 'GET /api/tasks?order=x', [stranger], ''],
      ['token before ownership', 401, 'GET /api/tasks/nonsense', [stranger], ''],
      ['type before size', 415, 'POST /api/auth/login', ['Content-Type: text/plain', LARGE], ''],
      ['size before JSON', 413, 'POST /api/auth/login', [JSON_TYPE, LARGE], ''],
    ])('checks %s', async (_what, status, line, headers, body) => {
      expect((await send(line, headers, body)).status).toBe(status);
    });

    const announced = (line: string, headers: readonly string[]) =>
      rawRequest(line, ['Host: localhost', ...headers, 'Expect: 100-continue'])
        .toString()
        .replace('Connection: close\r\n', '');

    it.each<[string, number, string, () => string[]]>([
      ['an unknown path', 404, 'POST /api/nothing', () => [JSON_TYPE, 'Content-Length: 20']],
      ['another method', 405, 'PUT /api/tasks', () => [JSON_TYPE, 'Content-Length: 20']],
      ['no token', 401, 'POST /api/tasks', () => [JSON_TYPE, 'Content-Length: 20']],
      ['a bad token', 401, 'POST /api/tasks', () => [stranger, JSON_TYPE, 'Content-Length: 20']],
      ['another type', 415, 'POST /api/tasks', () => [bearer(), 'Content-Type: text/plain', 'Content-Length: 20']],
      ['a large body', 413, 'POST /api/tasks', () => [bearer(), JSON_TYPE, LARGE]],
      ['a large document', 413, 'POST /graphql', () => [JSON_TYPE, LARGE]],
    ])('refuses an announced upload before it is sent, and closes: %s', async (_what, status, line, headers) => {
      const response = await exchange(platform().url, Buffer.from(announced(line, headers())));
      expect([response.status, response.continued]).toEqual([status, false]);
      expect(response.text).toMatch(/^connection: close\r$/im);
    });

    it('responds 100 Continue to an announced body that it accepts, and keeps the connection', async () => {
      const upload = announced('POST /api/tasks', [bearer(), JSON_TYPE, 'Content-Length: 15']) + GOOD;
      const next = rawRequest('GET /api/nothing', ['Host: localhost']);
      const response = await exchange(platform().url, Buffer.concat([Buffer.from(upload), next]));
      expect([response.status, response.continued]).toEqual([201, true]);
      expect(response.text).toContain('HTTP/1.1 404');
    });

    it('refuses two idempotency keys', async () => {
      const headers = [bearer(), JSON_TYPE, 'Idempotency-Key: key', 'Idempotency-Key: key', 'Content-Length: 15'];
      const { status, text } = await send('POST /api/tasks', headers, GOOD);
      expect([status, text]).toEqual([400, expect.stringContaining('Idempotency-Key must be sent once.')]);
    });

    it('ignores other expectations, and headers that claim another method or identity', async () => {
      const identity = `X-Identity: {"role":"user","userId":"${account.id}"}`;
      const claims = ['X-HTTP-Method-Override: DELETE', `X-User-Id: ${account.id}`, 'X-Forwarded-For: 10.0.0.1'];
      const headers = ['Expect: wonders', identity, ...claims];
      expect((await send('GET /api/tasks', [bearer(), ...headers])).status).toBe(200);
      expect((await send('GET /api/tasks', headers)).status).toBe(401);
    });

    it('accepts the authorization scheme in any case, and only one token', async () => {
      expect((await send('GET /api/tasks', [`Authorization: bEARER ${account.token}`])).status).toBe(200);
      expect((await send('GET /api/tasks', [bearer(), bearer()])).status).toBe(401);
      for (const header of [`Cookie: access_token=${account.token}`, `X-Access-Token: ${account.token}`])
        expect((await send('GET /api/tasks', [header])).status).toBe(401);
      expect((await send(`GET /api/tasks?access_token=${account.token}`)).status).toBe(401);
    });

    it('responds to HEAD like to GET, with the same headers and no body', async () => {
      for (const path of words('/api/tasks /api/tasks/stats /api/auth/me /reduced/api/tasks /api/openapi.json')) {
        const get = await client.call('GET', path, { token: account.token });
        const head = await client.call('HEAD', path, { token: account.token });
        expect([head.status, head.text]).toEqual([200, '']);
        expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      }
      expect((await client.call('HEAD', '/api/tasks')).status).toBe(401);
      expect((await client.call('HEAD', '/api/tasks/nonsense', { token: account.token })).status).toBe(404);
    });

    const NOWHERE = `/api /api/nowhere /API/Tasks /api/Tasks //api/tasks /api//tasks /api/tasks/.. /api/tasks/% /api/tasks/%ff
      /api/tasks/x/y /api/tasks/stats/more /api/backup /full/tasks /reduced/api /reduced/api/nowhere /reset-password/other.js`;
    it.each(
      casesOf({
        200: ['/api/tasks/', '/api/tasks/stats/', '/api/tasks/?x=1'],
        404: [...words(NOWHERE), `/api/tasks/${'x'.repeat(15_000)}`],
      }),
    )('GET %s is a %d in JSON', async (path, status) => {
      const { status: seen, text } = await send(`GET ${path}`, [bearer(), 'Accept: text/html']);
      expect(seen).toBe(status);
      expect(text).toMatch(/^content-type: application\/json; charset=utf-8\r$/im);
      if (status === 404) expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).error).toEqual({ code: 'NOT_FOUND' });
    });

    it('responds to pipelined requests in order', async () => {
      const request = (path: string, ...more: string[]) =>
        [`GET ${path} HTTP/1.1`, 'Host: localhost', bearer(), ...more, '', ''].join('\r\n');
      const paths = ['/api/tasks', '/api/tasks/stats', '/api/auth/me'].map((path) => request(path));
      const last = request('/api/nothing', 'Connection: close');
      const { text } = await exchange(platform().url, Buffer.from([...paths, last].join('')));
      expect([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status).join(' ')).toBe('200 200 200 404');
      expect(text).toMatch(/"count".*"completionPercentage".*"userId"/s);
    });
  });
}
