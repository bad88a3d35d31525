import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient, type Client } from './rest-fakes/client.ts';
import { exchange, rawRequest } from './rest-fakes/raw.ts';

let rest: RestApp;
let client: Client;
let token: string;

beforeAll(async () => {
  rest = await startRestApp();
  client = await createClient(rest.origin);
  ({ token } = await client.signUp());
});
afterAll(() => rest.stop());

const JSON_TYPE = 'Content-Type: application/json';
const LIMIT = 1024 * 1024;
const bearer = () => `Authorization: Bearer ${token}`;

describe('the order of checks', () => {
  const stranger = 'Authorization: Bearer nonsense';

  it.each<[string, number, string, string[], string]>([
    ['route before method', 404, 'PUT /api/nothing', [], ''],
    ['method before token', 405, 'PUT /api/tasks', [stranger], ''],
    ['method before body', 405, 'PUT /api/tasks', ['Content-Type: nonsense', 'Content-Length: 3'], '{"a'],
    ['token before type', 401, 'POST /api/tasks', [stranger, 'Content-Type: text/plain', 'Content-Length: 2'], '{}'],
    [
      'token before a type that is none',
      401,
      'POST /api/tasks',
      [stranger, 'Content-Type: nonsense', 'Content-Length: 2'],
      '{}',
    ],
    ['token before size', 401, 'POST /api/tasks', [stranger, JSON_TYPE, `Content-Length: ${50 * LIMIT}`], ''],
    ['token before JSON', 401, 'POST /api/tasks', [stranger, JSON_TYPE, 'Content-Length: 1'], '{'],
    ['token before query', 401, 'GET /api/tasks?order=x', [stranger], ''],
    ['token before ownership', 401, 'GET /api/tasks/nonsense', [stranger], ''],
    [
      'type before size',
      415,
      'POST /api/auth/login',
      ['Content-Type: text/plain', `Content-Length: ${50 * LIMIT}`],
      '',
    ],
    ['size before JSON', 413, 'POST /api/auth/login', [JSON_TYPE, `Content-Length: ${50 * LIMIT}`], ''],
  ])('is %s', async (_what, status, line, headers, body) => {
    expect((await exchange(rest.origin, rawRequest(line, headers, body))).status).toBe(status);
  });

  const announced = (line: string, headers: readonly string[]) =>
    rawRequest(line, [...headers, 'Expect: 100-continue'])
      .toString()
      .replace('Connection: close\r\n', '');

  it.each<[string, number, string, () => string[]]>([
    ['an unknown path', 404, 'POST /api/nothing', () => [JSON_TYPE, 'Content-Length: 20']],
    ['another method', 405, 'PUT /api/tasks', () => [JSON_TYPE, 'Content-Length: 20']],
    ['no token', 401, 'POST /api/tasks', () => [JSON_TYPE, 'Content-Length: 20']],
    ['a bad token', 401, 'POST /api/tasks', () => [stranger, JSON_TYPE, 'Content-Length: 20']],
    ['another type', 415, 'POST /api/tasks', () => [bearer(), 'Content-Type: text/plain', 'Content-Length: 20']],
    ['a large body', 413, 'POST /api/tasks', () => [bearer(), JSON_TYPE, `Content-Length: ${50 * LIMIT}`]],
    ['a large document', 413, 'POST /graphql', () => [JSON_TYPE, `Content-Length: ${50 * LIMIT}`]],
  ])('refuses an announced upload before it is sent, and closes: %s', async (_what, status, line, headers) => {
    const answer = await exchange(rest.origin, Buffer.from(announced(line, headers())));
    expect([answer.status, answer.continued]).toEqual([status, false]);
    expect(answer.head).toMatch(/^connection: close$/im);
  });

  it('asks for an announced body when it is wanted, and keeps the connection', async () => {
    const body = '{"title":"abc"}';
    const upload = announced('POST /api/tasks', [bearer(), JSON_TYPE, `Content-Length: ${body.length}`]) + body;
    const next = rawRequest('GET /api/nothing');
    const answer = await exchange(rest.origin, Buffer.concat([Buffer.from(upload), next]));
    expect([answer.status, answer.continued]).toEqual([201, true]);
    expect(answer.body).toContain('HTTP/1.1 404');
  });

  it('ignores other expectations', async () => {
    const { status } = await exchange(rest.origin, rawRequest('GET /api/tasks', [bearer(), 'Expect: wonders']));
    expect(status).toBe(200);
  });
});

describe('the token', () => {
  it.each([
    ['nothing', []],
    ['an empty header', ['Authorization:']],
    ['a scheme only', ['Authorization: Bearer']],
    ['another scheme', ['Authorization: Basic YTpi']],
    ['nonsense', ['Authorization: Bearer nonsense']],
    ['a cookie', ['Cookie: access_token=x']],
  ])('that is %s is a 401 that says Bearer', async (_what, headers) => {
    for (const line of [
      'GET /api/tasks',
      'GET /api/tasks/stats',
      'GET /api/auth/me',
      'POST /api/auth/logout',
      'GET /reduced/api/tasks',
    ]) {
      const { status, head, body } = await exchange(rest.origin, rawRequest(line, headers));
      expect(status).toBe(401);
      expect(head).toMatch(/^www-authenticate: Bearer$/im);
      expect(JSON.parse(body).error).toEqual({ code: 'UNAUTHENTICATED' });
    }
  });

  it('does not count in two headers, nor in the query', async () => {
    expect((await exchange(rest.origin, rawRequest('GET /api/tasks', [bearer(), bearer()]))).status).toBe(401);
    expect((await exchange(rest.origin, rawRequest(`GET /api/tasks?access_token=${token}`))).status).toBe(401);
  });

  it('counts with its scheme in any case', async () => {
    expect((await exchange(rest.origin, rawRequest('GET /api/tasks', [`Authorization: bEARER ${token}`]))).status).toBe(
      200,
    );
  });

  it('is not looked at where nobody needs one', async () => {
    const { status } = await client.call('POST', '/api/auth/forgot-password', {
      json: { email: 'a@b.c' },
      token: 'nonsense',
    });
    expect(status).toBe(200);
  });

  it('says nothing through other headers', async () => {
    const headers = {
      'x-user-id': 'x',
      'x-http-method-override': 'DELETE',
      'x-method-override': 'DELETE',
      'x-forwarded-for': '10.0.0.1',
    };
    expect((await client.call('GET', '/api/tasks', { headers })).status).toBe(401);
    expect((await client.call('GET', '/api/tasks', { token, headers })).status).toBe(200);
  });
});

describe('methods', () => {
  it.each([
    ['/api/tasks', 'GET, HEAD, POST, OPTIONS'],
    ['/api/tasks/stats', 'GET, HEAD, OPTIONS'],
    ['/api/tasks/0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d', 'DELETE, PATCH, GET, HEAD, OPTIONS'],
    ['/api/auth/login', 'POST, OPTIONS'],
    ['/api/auth/me', 'GET, HEAD, OPTIONS'],
    ['/api/openapi.json', 'GET, HEAD, OPTIONS'],
  ])('of %s are %s', async (path, allow) => {
    const options = await client.call('OPTIONS', path);
    expect(options.status).toBe(204);
    expect(options.text).toBe('');
    expect(options.headers.get('allow')).toBe(allow);
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter(
      (name) => !allow.includes(name),
    )) {
      const { status, headers, body } = await client.call(method, path, { json: method === 'GET' ? undefined : {} });
      expect([method, status]).toEqual([method, 405]);
      expect(headers.get('allow')).toBe(allow);
      expect(body.error).toEqual({ code: 'METHOD_NOT_ALLOWED' });
      expect(body.success).toBe(path.startsWith('/api/tasks') ? false : undefined);
    }
  });

  it('HEAD answers as GET without a body', async () => {
    for (const path of [
      '/api/tasks',
      '/api/tasks/stats',
      '/api/auth/me',
      '/reduced/api/tasks',
      '/api/openapi.json',
      '/api/docs',
    ]) {
      const get = await fetch(`${rest.origin}${path}`, { headers: { authorization: `Bearer ${token}` } });
      const head = await client.call('HEAD', path, { token });
      expect([head.status, head.text]).toEqual([200, '']);
      for (const name of ['content-type', 'content-length']) expect(head.headers.get(name)).toBe(get.headers.get(name));
      await get.arrayBuffer();
    }
    expect((await client.call('HEAD', '/api/tasks')).status).toBe(401);
    expect((await client.call('HEAD', '/api/tasks/nonsense', { token })).status).toBe(404);
  });

  it('logout and DELETE take any body, and do not read it', async () => {
    const types: Record<string, string>[] = [{}, { 'content-type': 'text/plain' }, { 'content-type': 'nonsense' }];
    for (const headers of types) {
      const { token: own } = await client.signUp();
      const { body } = await client.call('POST', '/api/tasks', { token: own, json: { title: 'abc' } });
      const options = { token: own, raw: '{"broken', headers };
      expect((await client.call('DELETE', `/api/tasks/${body.data.id}`, options)).status).toBe(200);
      expect((await client.call('POST', '/api/auth/logout', options)).status).toBe(200);
    }
  });
});

describe('paths', () => {
  it.each([
    ['/api/tasks/', 200],
    ['/api/tasks/stats/', 200],
    ['/api/tasks?x=1', 200],
    ['/api/tasks/?x=1', 200],
    ['/API/Tasks', 404],
    ['/api/Tasks', 404],
    ['//api/tasks', 404],
    ['/api//tasks', 404],
    ['/api/tasks/..', 404],
    ['/api/tasks/%2e%2e', 404],
    ['/api/tasks/%', 404],
    ['/api/tasks/%ff', 404],
    ['/api/tasks/stats/more', 404],
    ['/api/backup', 404],
    ['/reduced/api', 404],
    ['/reduced/tasks', 404],
  ])('GET %s is a %d', async (path, status) => {
    const answer = await exchange(rest.origin, rawRequest(`GET ${path}`, [bearer(), 'Accept: text/xml']));
    expect(answer.status).toBe(status);
    expect(answer.head).toMatch(/^content-type: application\/json; charset=utf-8$/im);
    if (status === 404) expect(JSON.parse(answer.body).error).toEqual({ code: 'NOT_FOUND' });
  });

  it.each([101, 15_000])('with an id of %d characters name a task that is not there', async (size) => {
    const line = `GET /api/tasks/${'x'.repeat(size)}`;
    const found = await exchange(rest.origin, rawRequest(line, [bearer()]));
    expect(found.status).toBe(404);
    expect(JSON.parse(found.body)).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
    expect((await exchange(rest.origin, rawRequest(line))).status).toBe(401);
  });

  it('of 20,000 characters are refused', async () => {
    const { status } = await exchange(rest.origin, rawRequest(`GET /api/tasks/${'x'.repeat(20_000)}`, [bearer()]));
    expect(status).toBe(431);
  });

  it('takes st%61ts as statistics or as nothing', async () => {
    const { status } = await exchange(rest.origin, rawRequest('GET /api/tasks/st%61ts', [bearer()]));
    expect([200, 404]).toContain(status);
  });

  it('reads raw bytes of a query as UTF-8, and refuses what is none', async () => {
    await client.call('POST', '/api/tasks', { token, json: { title: 'Umlaut', category: 'K\u00fcche' } });
    const found = await exchange(rest.origin, rawRequest('GET /api/tasks?category=K\u00c3\u00bcche', [bearer()]));
    if (found.status === 200) expect(JSON.parse(found.body).count).toBe(1);
    else expect(found.status).toBe(400);
    expect((await exchange(rest.origin, rawRequest('GET /api/tasks?category=K\u00fcche', [bearer()]))).status).toBe(
      400,
    );
  });

  it('answers requests of one connection in their order', async () => {
    const requests = ['GET /api/tasks', 'GET /api/tasks/stats', 'GET /api/auth/me'].map((line) =>
      rawRequest(line, [bearer()]).toString().replace('Connection: close', 'Connection: keep-alive'),
    );
    const last = rawRequest('GET /api/nothing');
    const { head, body } = await exchange(
      rest.origin,
      Buffer.concat([...requests.map((text) => Buffer.from(text)), last]),
    );
    const all = `${head}\r\n\r\n${body}`;
    expect(all.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404']);
    expect(all.indexOf('count')).toBeLessThan(all.indexOf('completionPercentage'));
    expect(all.indexOf('completionPercentage')).toBeLessThan(all.indexOf('userId'));
  });

  it('has an id of its own in every answer', async () => {
    const ids = new Set<string>();
    for (const [path, options] of [
      ['/api/tasks', { token }],
      ['/api/tasks', {}],
      ['/api/nothing', {}],
      ['/api/docs', {}],
    ] as const) {
      const response = await fetch(`${rest.origin}${path}`, {
        headers: { 'x-request-id': 'mine', ...('token' in options && { authorization: `Bearer ${options.token}` }) },
      });
      await response.arrayBuffer();
      ids.add(response.headers.get('x-request-id') ?? 'none');
    }
    expect(ids.size).toBe(4);
    expect(ids.has('mine') || ids.has('none')).toBe(false);
  });
});
