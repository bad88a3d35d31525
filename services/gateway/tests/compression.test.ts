import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { startRestApp, type RestApp } from './rest-fakes/app.ts';
import { createClient } from './rest-fakes/client.ts';

let rest: RestApp;
let authorization: string;

beforeAll(async () => {
  rest = await startRestApp();
  const client = await createClient(rest.origin);
  const { token } = await client.signUp();
  authorization = `Bearer ${token}`;
  for (let number = 0; number < 20; number++)
    await client.call('POST', '/api/tasks', { token, json: { title: `Task ${number}`, description: 'x'.repeat(500) } });
});
afterAll(() => rest.stop());

/** `fetch` would undo the encoding. */
async function get(path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined;
    headers: Record<string, unknown>;
    body: Buffer;
  }>();
  request(`${rest.origin}${path}`, { headers }, (response) => {
    const chunks: Buffer[] = [];
    response
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      );
  })
    .on('error', reject)
    .end();
  return promise;
}

it('compresses a large list for clients that accept gzip', async () => {
  const plain = await get('/api/tasks', { authorization });
  expect(plain.headers).toMatchObject({
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
    vary: 'Origin, Accept-Encoding',
  });
  expect(plain.headers).not.toHaveProperty('content-encoding');
  for (const accepted of ['gzip', 'br, gzip;q=0.5', '*']) {
    const { headers, body } = await get('/api/tasks', { authorization, 'accept-encoding': accepted });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Origin, Accept-Encoding' });
    expect(gunzipSync(body)).toEqual(plain.body);
    expect(body.length).toBeLessThan(plain.body.length / 4);
  }
  for (const accepted of ['identity', 'gzip;q=0', 'gzip;q=0, *', 'br', '']) {
    const { headers, body } = await get('/api/tasks', { authorization, 'accept-encoding': accepted });
    expect(headers).not.toHaveProperty('content-encoding');
    expect(body).toEqual(plain.body);
  }
});

it('leaves what is small, or about an account, as it is', async () => {
  for (const path of ['/api/tasks?limit=1', '/api/auth/sessions']) {
    const { headers } = await get(path, { authorization, 'accept-encoding': 'gzip' });
    expect(headers).not.toHaveProperty('content-encoding');
  }
});

it('gives the API description a strong tag for each form, and 304 to who has it', async () => {
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
