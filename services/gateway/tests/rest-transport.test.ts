import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
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

/** POST /api/tasks with these bytes. */
async function post(body: string | Buffer, headers: readonly string[] = [JSON_TYPE]) {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const answer = await exchange(rest.origin, rawRequest('POST /api/tasks', [bearer(), length, ...headers], body));
  return { ...answer, json: answer.body === '' ? undefined : JSON.parse(answer.body) };
}

/** A task whose body has about this many bytes. */
const padded = (sizeBytes: number) => {
  const empty = JSON.stringify({ title: 'abc', padding: '' });
  return JSON.stringify({ title: 'abc', padding: 'x'.repeat(sizeBytes - empty.length) });
};
const nested = (depth: number, [open, close]: readonly [string, string]) =>
  `${open.repeat(depth)}1${close.repeat(depth)}`;

describe('a body', () => {
  it.each<[string, number, string | Buffer]>([
    ['broken JSON', 400, '{"title":'],
    ['nothing', 400, ''],
    ['blanks only', 400, '  '],
    ['an array', 400, '[{"title":"abc"}]'],
    ['a string', 400, '"abc"'],
    ['null', 400, 'null'],
    ['a number', 400, '5'],
    ['invalid UTF-8', 400, Buffer.from('7b227469746c65223a22616263ff227d', 'hex')],
    ['an overlong UTF-8 form', 400, Buffer.from('7b227469746c65223a226162c0af227d', 'hex')],
    ['UTF-16', 400, Buffer.from('{"title":"abc"}', 'utf16le')],
    ['a byte order mark and JSON', 201, '\ufeff{"title":"abc"}'],
    ['two byte order marks', 400, '\ufeff\ufeff{"title":"abc"}'],
    ['exactly 1 MiB', 201, padded(LIMIT)],
    ['1 MiB and a byte', 413, padded(LIMIT + 1)],
    ['20,000 arrays in one another', 400, nested(20_000, ['[', ']'])],
    ['20,000 arrays in an unknown field', 400, `{"title":"abc","x":${nested(20_000, ['[', ']'])}}`],
    ['100,000 objects in an unknown field', 400, `{"title":"abc","x":${nested(100_000, ['{"a":', '}'])}}`],
    ['31 arrays in an unknown field', 201, `{"title":"abc","x":${nested(31, ['[', ']'])}}`],
    ['32 arrays in an unknown field', 400, `{"title":"abc","x":${nested(32, ['[', ']'])}}`],
    ['NaN', 400, '{"title":"abc","completed":NaN}'],
    ['a number beyond doubles', 400, '{"title":"abc","completed":1e400}'],
    ['a comma at the end', 400, '{"title":"abc",}'],
    ['a comment', 400, '{"title":"abc"/* ! */}'],
    ['single quotes', 400, "{'title':'abc'}"],
    ['two values', 400, '{"title":"abc"}{"title":"abc"}'],
    ['a raw NUL', 400, '{"title":"abc"}\0'],
    [
      '1,000 unknown fields',
      201,
      JSON.stringify({ title: 'abc', ...Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, i])) }),
    ],
  ])('that is %s is a %d', async (_what, status, body) => {
    const before = rest.tasks.rows.length;
    const answer = await post(body);
    expect(answer.status).toBe(status);
    expect(rest.tasks.rows.length).toBe(status === 201 ? before + 1 : before);
    if (status !== 201) expect(answer.json).toMatchObject({ success: false, error: { code: expect.any(String) } });
  });

  it('counts the last one of repeated keys', async () => {
    expect((await post('{"title":"first","title":"the last"}')).json.data.title).toBe('the last');
  });

  it.each([
    '{"title":"abc","__proto__":{"completed":true,"polluted":1}}',
    '{"title":"abc","constructor":{"prototype":{"polluted":1}}}',
  ])('cannot reach a prototype: %s', async (body) => {
    const { status, json } = await post(body);
    expect(status).toBe(201);
    expect(json.data.completed).toBe(false);
    expect({}).not.toHaveProperty('polluted');
  });

  it('does not take its fields from a prototype', async () => {
    expect((await post('{"__proto__":{"title":"abc"}}')).status).toBe(400);
  });

  it.each([
    ['application/json; charset=utf-8', 201],
    ['application/json;charset="UTF-8"', 201],
    ['Application/JSON', 201],
    ['application/json; profile=x', 201],
    ['application/json; charset=iso-8859-1', 415],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=', 415],
    ['application/vnd.api+json', 415],
    ['application/jsonp', 415],
    ['text/json', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['nonsense', 415],
    ['', 415],
  ])('of type "%s" is a %d', async (type, status) => {
    const answer = await post('{"title":"abc"}', [`Content-Type: ${type}`]);
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.json.error).toEqual({ code: 'UNSUPPORTED_MEDIA_TYPE' });
  });

  it('without a type is a 415', async () => {
    expect((await post('{"title":"abc"}', [])).status).toBe(415);
  });

  it('that is not there is a 400, with or without a type', async () => {
    for (const headers of [[], [JSON_TYPE]]) {
      const answer = await exchange(rest.origin, rawRequest('POST /api/tasks', [bearer(), ...headers]));
      expect(answer.status).toBe(400);
    }
  });

  it.each<[string, number, Buffer]>([
    ['gzip', 201, gzipSync('{"title":"abc"}')],
    ['GZIP', 201, gzipSync('{"title":"abc"}')],
    ['deflate', 201, deflateSync('{"title":"abc"}')],
    ['br', 201, brotliCompressSync('{"title":"abc"}')],
    ['identity', 201, Buffer.from('{"title":"abc"}')],
    ['gzip', 413, gzipSync(Buffer.alloc(50 * LIMIT))],
    ['br', 413, brotliCompressSync(Buffer.alloc(50 * LIMIT))],
    ['gzip', 400, Buffer.from('{"title":"abc"}')],
    ['br', 400, Buffer.from('{"title":"abc"}')],
    ['gzip', 400, gzipSync('{"title":"abc"}').subarray(0, 12)],
    ['zstd', 415, Buffer.from('{"title":"abc"}')],
    ['gzip, gzip', 415, gzipSync(gzipSync('{"title":"abc"}'))],
  ])('encoded as %s is a %d (%#)', async (encoding, status, body) => {
    expect((await post(body, [JSON_TYPE, `Content-Encoding: ${encoding}`])).status).toBe(status);
  });

  it('may come in chunks, and is bounded in the same way', async () => {
    const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
    const headers = [bearer(), JSON_TYPE, 'Transfer-Encoding: chunked'];
    for (const [body, status] of [
      ['{"title":"abc"}', 201],
      [padded(LIMIT + 1), 413],
      [' ', 400],
    ] as const) {
      expect((await exchange(rest.origin, rawRequest('POST /api/tasks', headers, chunked(body)))).status).toBe(status);
    }
  });
});

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
