import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { PASSWORD } from '../http.ts';
import { clientOf, type Platform } from './client.ts';

/** Which responses are compressed, and for which clients. */
export function describeCompression(platform: () => Platform) {
  const client = clientOf(platform);
  describe('the gateway', () => {
    const vary = 'Origin, Accept-Encoding';
    let authorization: string;

    beforeAll(async () => {
      const { token } = await client.signUp();
      authorization = `Bearer ${token}`;
      const json = { title: 'One of many', description: 'x'.repeat(500) };
      for (let number = 0; number < 20; number++) await client.call('POST', '/api/tasks', { token, json });
    });

    /** `fetch` would undo the encoding. */
    async function get(path: string, headers: Record<string, string> = {}, json?: object) {
      const sent = request(`${platform().url}${path}`, { headers, method: json ? 'POST' : 'GET' });
      sent.end(json && JSON.stringify(json));
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
    }

    const graphql = (query: string, headers: Record<string, string>, variables?: object) =>
      get('/graphql', { authorization, 'content-type': 'application/json', ...headers }, { query, variables });

    it('compresses a large list for clients that accept gzip', async () => {
      const plain = await get('/api/tasks', { authorization });
      const always = { 'cache-control': 'private, no-cache', 'x-content-type-options': 'nosniff' };
      expect(plain.headers).toMatchObject({ ...always, vary });
      expect(plain.headers).not.toHaveProperty('content-encoding');
      for (const accepted of ['gzip', 'br, gzip;q=0.5', '*']) {
        const { headers, body } = await get('/api/tasks', { authorization, 'accept-encoding': accepted });
        expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary });
        expect(gunzipSync(body)).toEqual(plain.body);
        expect(body.length).toBeLessThan(plain.body.length / 4);
      }
      for (const accepted of ['identity', 'gzip;q=0', 'gzip;q=0, *', 'br', '']) {
        const { headers, body } = await get('/api/tasks', { authorization, 'accept-encoding': accepted });
        expect(headers).not.toHaveProperty('content-encoding');
        expect(body).toEqual(plain.body);
      }
    });

    it.each([
      ['without the framework', {}],
      ['by the framework', { accept: 'text/event-stream, application/json' }],
    ])('compresses large results of GraphQL queries in the same way: %s', async (_how, headers) => {
      const list = '{ tasks { edges { node { title description } } } }';
      const plain = await graphql(list, headers);
      expect(plain.status).toBe(200);
      const { headers: answered, body } = await graphql(list, { ...headers, 'accept-encoding': 'gzip' });
      expect(answered).toMatchObject({ 'content-encoding': 'gzip', vary });
      expect(answered['content-length']).toBe(String(body.length));
      expect(gunzipSync(body)).toEqual(plain.body);
      expect(plain.headers).toMatchObject({ vary });
      expect(plain.headers).not.toHaveProperty('content-encoding');
      const small = await graphql('{ tasks(first: 1) { totalCount } }', { ...headers, 'accept-encoding': 'gzip' });
      expect(small.headers).not.toHaveProperty('content-encoding');
    });

    it('does not compress results of GraphQL mutations, and responses about an account, which may contain tokens', async () => {
      const mutation =
        'mutation ($text: String) { createTask(input: { title: "Task", description: $text }) { a: description b: description c: description } }';
      const { email } = await client.signUp();
      const headers = { 'user-agent': 'x'.repeat(255) }; // so that few sessions make a long list
      const logIn = () => client.call('POST', '/api/auth/login', { json: { email, password: PASSWORD }, headers });
      for (let times = 0; times < 11; times++) await logIn();
      const token = (await logIn()).body.access_token;
      const accepted = { 'accept-encoding': 'gzip' };
      for (const { status, headers, body } of [
        await graphql(mutation, accepted, { text: 'x'.repeat(2_000) }),
        await get('/api/auth/sessions', { authorization: `Bearer ${token}`, ...accepted }),
      ]) {
        expect([status, headers['content-encoding']]).toEqual([200, undefined]);
        expect(body.length).toBeGreaterThan(4_096);
      }
    });

    it('gives each encoding of the API description a strong ETag, and responds 304 to clients that have it', async () => {
      const tags = new Set<unknown>();
      for (const accepted of ['identity', 'gzip']) {
        const first = await get('/api/openapi.json', { 'accept-encoding': accepted });
        expect(first.headers.etag).toMatch(/^"[\w-]+"$/);
        tags.add(first.headers.etag);
        const headers = { 'accept-encoding': accepted, 'if-none-match': String(first.headers.etag) };
        expect(await get('/api/openapi.json', headers)).toMatchObject({ status: 304, body: Buffer.alloc(0) });
        expect((await get('/api/openapi.json', { ...headers, 'if-none-match': '"other"' })).status).toBe(200);
      }
      expect(tags.size).toBe(2);
    });
  });
}
