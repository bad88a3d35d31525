import { exchange } from '@taskmesh/testing/raw';
import { describeLoginLimit } from './accounts.ts';
import { badInputs, goodSignUps, goodTasks, type BadInput } from './bad-inputs.ts';
import { type Account, clientOf, rawRequest, snapshotOf } from './client.ts';
import { describeKeyRotation } from './key-rotation.ts';
import { platformForTests } from './platform-for-tests.ts';
import { expectError } from './shapes.ts';

const catalogue = badInputs();
/** The number of requests sent at once; the server has room for all of their bodies. */
const AT_ONCE = 8;
const CODES: Record<number, string> = {
  400: 'BAD_USER_INPUT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
};

describe('the platform in one process, as "npm start" runs it,', () => {
  const platform = platformForTests('start');
  const client = clientOf(platform);
  let account: Account;
  let id: string;
  /** A snapshot of the account: a refused request must not change a byte of it. */
  let stored: string;

  beforeAll(async () => {
    account = await client.signUp();
    const json = { title: 'Stays as it is', category: 'x' };
    id = (await client.call('POST', '/api/tasks', { token: account.token, json })).body.data.id;
    stored = await snapshotOf(client, account);
  });

  it('refuses at least 700 inputs of the catalogue', () => {
    expect(Object.values(catalogue).flat().length).toBeGreaterThanOrEqual(700);
  });

  const isRefused = async ({ status, method, path, shown, options, anonymous }: BadInput) => {
    const own = anonymous ? {} : { token: account.token };
    const response = await client.call(method, path.replace('{id}', id), { ...own, ...options });
    const sent = [method, path, shown];
    expect([...sent, response.status, response.text]).toEqual([...sent, status, expect.any(String)]);
    // An id that is not one path segment matches no route.
    const isOfTasks = status === 404 ? 'success' in response.body : path.startsWith('/api/tasks');
    expectError(response, { status, code: CODES[status] ?? '', envelope: isOfTasks ? 'tasks' : 'plain' });
    expect(response.text).not.toMatch(/node_modules|\.ts:\d|postgres|select |insert into/i);
  };

  it.each(Object.entries(catalogue))('refuses bad %s, and they leave no trace', async (_what, inputs) => {
    for (let from = 0; from < inputs.length; from += AT_ONCE) {
      const some = inputs.slice(from, from + AT_ONCE);
      await Promise.all(some.map(isRefused));
      const sent = some.map(({ method, path, shown }) => `${method} ${path} ${shown}`);
      expect({ sent, stored: await snapshotOf(client, account) }).toEqual({ sent, stored });
    }
  });

  it('does not create an account for a refused sign-up', async () => {
    const attempts = Object.values(catalogue)
      .flat()
      .filter(({ path }) => path === '/api/auth/signup');
    for (const { options } of attempts) {
      // The bodies of sign-ups in the catalogue are objects.
      const { email, password } = options.json as Record<string, unknown>;
      const { status } = await client.call('POST', '/api/auth/login', { json: { email, password } });
      expect([400, 401, 429]).toContain(status);
    }
  });

  it.each(goodSignUps())('accepts the sign-up %j', async (json) => {
    expect((await client.call('POST', '/api/auth/signup', { json })).status).toBe(201);
  });

  it('takes what is no address as an unknown one at login', async () => {
    for (const email of ['x', ' ', 'a@b@c', 'somebody@example.com\u0000'])
      expect((await client.logIn(email)).status).toBe(401);
  });

  describe('another account', () => {
    let other: Account;
    beforeAll(async () => {
      other = await client.signUp();
    });
    const post = (raw: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
      client.call('POST', '/api/tasks', { token: other.token, raw, headers });

    it.each(goodTasks())('creates a task from $what', async ({ body, headers }) => {
      expect((await post(body, headers)).status).toBe(201);
    });

    it.each([
      ['2026-01-01T00:00:00.123456789Z', '2026-01-01T00:00:00.123Z'],
      ['2026-01-01T00:00:00.0001234567891Z', '2026-01-01T00:00:00.000Z'],
      ['2026-01-01T00:00:00+14:00', '2025-12-31T10:00:00.000Z'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
      ['2026-06-30t23:59:59.9z', '2026-06-30T23:59:59.900Z'],
    ])('has the due date %s as %s', async (dueDate, expected) => {
      expect((await post(JSON.stringify({ title: 'abc', dueDate }))).body.data.due_date).toBe(expected);
    });

    it('lists its tasks with strange queries', async () => {
      for (const query of ['limit=0007', 'offset=2147483647', 'category=%F0%9F%98%80', 'unknown=1&unknown=2'])
        expect((await client.call('GET', `/api/tasks?${query}`, { token: other.token })).status).toBe(200);
    });

    it('keeps the last value of a repeated key, and cannot reach a prototype by its fields', async () => {
      expect((await post('{"title":"first","title":"the last"}')).body.data.title).toBe('the last');
      const { body } = await post(
        '{"title":"abc","__proto__":{"completed":true,"isAdmin":true},"constructor":{"prototype":{"priority":"high"}}}',
      );
      expect(body.data).toMatchObject({ completed: false, priority: 'medium' });
      const next = await post('{"title":"abc"}');
      expect(next.body.data).toMatchObject({ completed: false, priority: 'medium' });
      expect(Object.keys(next.body.data)).toEqual(Object.keys(body.data));
    });
  });

  describe('on the wire', () => {
    const host = 'Host: localhost';
    const chunked = 'Transfer-Encoding: chunked';
    const BODY = '{"title":"Never stored"}';
    const post = (headers: string[], body = BODY, { token } = account) => {
      const always = [host, 'Content-Type: application/json', `Authorization: Bearer ${token}`];
      return rawRequest('POST /api/tasks', [...always, ...headers], body);
    };
    const get = (path: string, headers: string[] = [host]) =>
      rawRequest(`GET ${path}`, [...headers, `Authorization: Bearer ${account.token}`]);
    const asChunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

    it.each<[string, number[], () => Buffer]>([
      ['two lengths', [400], () => post(['Content-Length: 24', 'Content-Length: 25'])],
      ['a length beside chunks', [400], () => post(['Content-Length: 24', chunked])],
      ['an unknown transfer encoding', [400, 415, 501], () => post(['Transfer-Encoding: nonsense'])],
      ['a bad chunk', [400], () => post([chunked], 'zz\r\n{}\r\n0\r\n\r\n')],
      ['a blank in a chunk', [400], () => post([chunked], asChunk(' '))],
      ['chunks of more than 1 MiB', [413], () => post([chunked], asChunk(BODY.padEnd(1_024 * 1_024 + 1)))],
      ['no body', [400], () => post([], '')],
      ['no type', [415], () => rawRequest('POST /api/auth/login', [host, 'Content-Length: 2'], '{}')],
      ['no host', [400], () => get('/api/tasks', [])],
      ['two hosts', [400], () => get('/api/tasks', [host, 'Host: other'])],
      ['a header of 20 kB', [431], () => get('/api/tasks', [host, `X-Long: ${'x'.repeat(20_000)}`])],
      ['an address of 20 kB', [414, 431], () => get(`/api/tasks?category=${'x'.repeat(20_000)}`)],
      ['a control character in a header', [400], () => get('/api/tasks', [host, 'X-Bad: a\u0001b\u0000'])],
      ['a method that does not exist', [400, 405, 501], () => rawRequest('FOO /api/tasks', [host])],
      ['no HTTP at all', [400], () => Buffer.from('nonsense\r\n\r\n')],
      ['a TLS greeting', [400], () => Buffer.from('16030100a5010000a10303', 'hex')],
      ['dots in the path', [404], () => get('/api/x/../tasks')],
      ['bytes above 127 that are no UTF-8', [400], () => get('/api/tasks?category=\xff')],
    ])('refuses %s', async (_what, statuses, bytes) => {
      const response = await exchange(platform().url, bytes());
      expect(statuses).toContain(response.status);
      expect(response.text).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
      const { message, error } = JSON.parse(response.text.slice(response.text.indexOf('\r\n\r\n')));
      expect([message, error.code]).toEqual([expect.any(String), expect.stringMatching(/^[A-Z_]+$/)]);
      expect(await snapshotOf(client, account)).toBe(stored);
    });

    it('accepts a body in chunks', async () => {
      const { status } = await exchange(platform().url, post([chunked], asChunk(BODY), await client.signUp()));
      expect(status).toBe(201);
    });
  });

  // Parts that could differ from separate processes: limits in memory, a database and keys of its own.
  describeLoginLimit(platform);
  describeKeyRotation(platform);
});
