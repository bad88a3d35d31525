import { badInputs } from './bad-inputs.ts';
import { createClient, type Account } from './client.ts';
import { describeFuzz } from './fuzz.ts';
import { platformForTests } from './platform-for-tests.ts';
import { exchange, rawRequest } from './raw.ts';
import { snapshotOf } from './snapshot.ts';

const catalogue = badInputs();

describe('the embedded platform refuses', () => {
  const platform = platformForTests('start');
  const client = createClient(() => platform().url);
  let account: Account;
  let id: string;
  /** What the account has, as text: a refused request must not change a byte of it. */
  let stored: string;

  beforeAll(async () => {
    account = await client.signUp();
    const { body } = await client.call('POST', '/api/tasks', {
      token: account.token,
      json: { title: 'Stays as it is', category: 'x' },
    });
    id = body.data.id;
    stored = await snapshotOf(client, account);
  });

  it('at least 300 inputs of the catalogue', () => {
    expect(catalogue.length).toBeGreaterThanOrEqual(300);
  });

  it.each(catalogue)('$method $path with $shown: $status', async ({ status, method, path, options, anonymous }) => {
    const answer = await client.call(method, path.replace('{id}', id), {
      ...(anonymous !== true && { token: account.token }),
      ...options,
    });
    expect([answer.status, answer.text]).toEqual([status, expect.any(String)]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body.error.code).toMatch(/^[A-Z_]+$/);
    expect(answer.text).not.toMatch(/node_modules|\.ts:\d|postgres|select |insert into/i);
    expect(await snapshotOf(client, account)).toBe(stored);
  });

  it('to open an account for any sign-up that it refuses', async () => {
    const attempts = catalogue.filter(({ method, path }) => method === 'POST' && path === '/api/auth/signup');
    for (const { options } of attempts) {
      // Sign-ups of the catalogue are objects.
      const { email, password } = options.json as Record<string, unknown>;
      const { status } = await client.call('POST', '/api/auth/login', { json: { email, password } });
      expect([400, 401, 429]).toContain(status);
    }
  });

  describe('on the wire', () => {
    const host = 'Host: localhost';
    const json = 'Content-Type: application/json';
    const bearer = () => `Authorization: Bearer ${account.token}`;

    it.each<[string, number[], () => Buffer]>([
      [
        'two lengths',
        [400],
        () =>
          rawRequest(
            'POST /api/tasks',
            [host, json, bearer(), 'Content-Length: 24', 'Content-Length: 25'],
            '{"title":"Never stored"}',
          ),
      ],
      [
        'a length beside chunks',
        [400],
        () =>
          rawRequest(
            'POST /api/tasks',
            [host, json, bearer(), 'Content-Length: 24', 'Transfer-Encoding: chunked'],
            '{"title":"Never stored"}',
          ),
      ],
      [
        'an unknown transfer encoding',
        [400, 415, 501],
        () =>
          rawRequest(
            'POST /api/tasks',
            [host, json, bearer(), 'Transfer-Encoding: nonsense'],
            '{"title":"Never stored"}',
          ),
      ],
      [
        'a bad chunk',
        [400],
        () =>
          rawRequest('POST /api/tasks', [host, json, bearer(), 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'),
      ],
      ['no host', [400], () => rawRequest('GET /api/tasks', [bearer()])],
      ['two hosts', [400], () => rawRequest('GET /api/tasks', [host, 'Host: other', bearer()])],
      [
        'a header of 20 kB',
        [431],
        () => rawRequest('GET /api/tasks', [host, bearer(), `X-Long: ${'x'.repeat(20_000)}`]),
      ],
      [
        'an address of 20 kB',
        [414, 431],
        () => rawRequest(`GET /api/tasks?category=${'x'.repeat(20_000)}`, [host, bearer()]),
      ],
      [
        'a control character in a header',
        [400],
        () => rawRequest('GET /api/tasks', [host, bearer(), 'X-Bad: a\u0001b\u0000']),
      ],
      ['a method that does not exist', [400, 405, 501], () => rawRequest('FOO /api/tasks', [host, bearer()])],
      ['no HTTP at all', [400], () => Buffer.from('nonsense\r\n\r\n')],
      ['a TLS greeting', [400], () => Buffer.from('16030100a5010000a10303', 'hex')],
      ['two tokens', [400, 401], () => rawRequest('GET /api/tasks', [host, bearer(), 'Authorization: Bearer other'])],
      ['the same token twice', [400, 401], () => rawRequest('GET /api/tasks', [host, bearer(), bearer()])],
      [
        'a big body without a token, before it is sent',
        [401],
        () => rawRequest('POST /api/tasks', [host, json, 'Content-Length: 1000000', 'Expect: 100-continue']),
      ],
      ['dots in the path', [404], () => rawRequest('GET /api/x/../tasks', [host, bearer()])],
      ['encoded dots in the path', [404], () => rawRequest('GET /api/tasks/%2e%2e', [host, bearer()])],
      ['bytes above 127 that are no UTF-8', [400], () => rawRequest('GET /api/tasks?category=\xff', [host, bearer()])],
    ])('%s', async (_what, statuses, bytes) => {
      const answer = await exchange(platform().url, bytes());
      expect(statuses).toContain(answer.status);
      expect(await snapshotOf(client, account)).toBe(stored);
    });

    it('nothing of several requests at once: they are answered in order', async () => {
      const request = (path: string, ...more: string[]) =>
        [`GET ${path} HTTP/1.1`, host, bearer(), ...more, '', ''].join('\r\n');
      const bytes = Buffer.from(
        request('/api/tasks/stats') + request('/api/nowhere') + request('/api/auth/me', 'Connection: close'),
      );
      const { text } = await exchange(platform().url, bytes);
      expect([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(['200', '404', '200']);
    });
  });

  describeFuzz(platform, { runs: 800, seed: 20_261_121 });

  it('without ever failing itself: it is alive, ready and unpolluted', async () => {
    expect((await client.call('GET', '/readyz')).status).toBe(200);
    const { body } = await client.call('POST', '/api/tasks', {
      token: account.token,
      raw: '{"title":"abc","__proto__":{"completed":true,"isAdmin":true},"constructor":{"prototype":{"priority":"high"}}}',
    });
    expect(body.data).toMatchObject({ completed: false, priority: 'medium' });
    const next = await client.call('POST', '/api/tasks', { token: account.token, json: { title: 'abc' } });
    expect(next.body.data).toMatchObject({ completed: false, priority: 'medium' });
    expect(Object.keys(next.body.data)).toEqual(Object.keys(body.data));
  });
});
