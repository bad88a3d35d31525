import { randomUUID } from 'node:crypto';
import { clientOf, type Platform } from './client.ts';
import { CHANGES } from './trusted-documents.ts';

/** The only origin on the list of the platform that `describeCors` looks at. */
export const ALLOWED_ORIGIN = 'https://app.example.com';

const PREFLIGHT = {
  'access-control-request-method': 'PATCH',
  'access-control-request-headers': 'authorization,content-type,if-match',
};

const corsHeadersOf = (headers: Headers) => [...headers.keys()].filter((name) => name.startsWith('access-control-'));

/** Which other origins may call the platform from a browser, and which headers they get. */
export function describeCors(platform: () => Platform) {
  const client = clientOf(platform);
  const task = `/full/api/tasks/${randomUUID()}`;

  describe('a page in a browser', () => {
    it.each([
      ['GET', '/livez', 200],
      ['GET', '/api/nowhere', 404],
      ['GET', '/full/api/tasks', 401],
      ['GET', '/reduced/api/tasks', 401],
      ['PUT', '/full/api/tasks', 405],
      ['POST', '/api/auth/login', 400],
      ['POST', '/graphql', 400],
    ])('of the allowed origin can read the response to %s %s, a %i', async (method, path, status) => {
      const response = await client.call(method, path, { headers: { origin: ALLOWED_ORIGIN } });
      expect(response.status).toBe(status);
      expect(response.headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGIN);
      expect(response.headers.get('vary')).toBe('Origin');
      for (const name of ['X-Request-Id', 'ETag', 'Retry-After', 'Link'])
        expect(response.headers.get('access-control-expose-headers')).toContain(name);
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    });

    it.each([task, '/full/api/tasks', '/reduced/api/tasks', '/api/auth/logout', '/graphql'])(
      'of the allowed origin may ask first: %s',
      async (path) => {
        const { status, headers, text } = await client.call('OPTIONS', path, {
          headers: { origin: ALLOWED_ORIGIN, ...PREFLIGHT },
        });
        expect([status, text]).toEqual([204, '']);
        expect(headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGIN);
        for (const method of ['GET', 'POST', 'PATCH', 'DELETE'])
          expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
        expect(headers.get('access-control-allow-headers')).toBe('authorization,content-type,if-match');
        expect(headers.get('access-control-max-age')).toBe('600');
        expect(headers.get('access-control-allow-credentials')).toBeNull();
        expect(headers.get('vary')).toBe('Origin');
      },
    );

    it('of the allowed origin can create tasks, and reads a stream of changes', async () => {
      const { token } = await client.signUp();
      const json = { title: 'From a page' };
      const headers = { origin: ALLOWED_ORIGIN, accept: 'text/event-stream', 'content-type': 'application/json' };
      const created = await client.call('POST', '/full/api/tasks', { token, headers, json });
      const stream = await fetch(`${platform().url}/graphql`, {
        ...{ method: 'POST', body: JSON.stringify({ query: CHANGES }) },
        headers: { ...headers, authorization: `Bearer ${token}` },
      });
      await stream.body?.cancel();
      expect([created.status, stream.status]).toEqual([201, 200]);
      for (const { headers } of [created, stream]) {
        expect(headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGIN);
        expect(headers.get('vary')).toContain('Origin');
      }
    });

    it.each([
      'null',
      'https://evil.example',
      `${ALLOWED_ORIGIN}.evil.example`,
      `https://evil.example/${ALLOWED_ORIGIN}`,
      `${ALLOWED_ORIGIN}:8443`,
      `${ALLOWED_ORIGIN}/`,
      ALLOWED_ORIGIN.replace('https', 'http'),
      ALLOWED_ORIGIN.toUpperCase(),
      `${ALLOWED_ORIGIN}, https://evil.example`,
      '*',
    ])('of another origin reads nothing: %s', async (origin) => {
      const preflight = await client.call('OPTIONS', task, { headers: { origin, ...PREFLIGHT } });
      const response = await client.call('GET', '/livez', { headers: { origin } });
      for (const { headers } of [preflight, response]) {
        expect(corsHeadersOf(headers)).toEqual([]);
        // Otherwise, a cache would serve this response to the allowed origin, too.
        expect(headers.get('vary')).toBe('Origin');
      }
    });

    it('is not required: a request without an Origin gets only a Vary header', async () => {
      const { headers } = await client.call('GET', '/livez');
      expect(corsHeadersOf(headers)).toEqual([]);
      expect(headers.get('vary')).toBe('Origin');
    });
  });
}

/** A platform without a list of allowed origins. */
export function describeNoCors(platform: () => Platform) {
  const client = clientOf(platform);

  it.each(['null', ALLOWED_ORIGIN, 'http://localhost.example:3000'])(
    'lets no page of another origin read anything: %s',
    async (origin) => {
      const preflight = await client.call('OPTIONS', '/full/api/tasks', { headers: { origin, ...PREFLIGHT } });
      expect(preflight.status).toBe(204);
      const response = await client.call('GET', '/livez', { headers: { origin } });
      for (const { headers } of [preflight, response]) expect(corsHeadersOf(headers)).toEqual([]);
    },
  );

  it.each(['http://localhost:3000', 'http://127.0.0.1:5173', 'https://[::1]'])(
    'lets pages of this machine read outside production, for developers who run both: %s',
    async (origin) => {
      const { headers } = await client.call('GET', '/livez', { headers: { origin } });
      expect(headers.get('access-control-allow-origin')).toBe(origin);
    },
  );
}
