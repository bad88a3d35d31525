import { badUserInput } from '@taskmesh/errors';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { createAdminServer } from './admin-server.ts';
import { createLog } from './log.ts';

interface Answer {
  status: number | undefined;
  text: string;
  retryAfter: string | undefined;
}

/** Counts in a window that never ends. */
function countForever({ points }: { points: number }) {
  const counts = new Map<string, number>();
  return {
    peek: async (key: string) => ({ allowed: (counts.get(key) ?? 0) < points, retryAfterSeconds: 900 }),
    async consume(key: string) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { allowed: count <= points, retryAfterSeconds: 900 };
    },
  };
}

const DETAILS = [{ path: 'ids', message: 'ids is required.' }];
let handled: unknown[] = [];
let stop: () => Promise<void>;
let address = '';
beforeEach(() => (handled = []));
afterEach(() => stop());

async function serve(token?: string) {
  const handle = async ({ body, query }: { body: unknown; query: Record<string, string> }) => {
    if ('wrong' in query) throw badUserInput(DETAILS);
    if ('broken' in query) throw new Error('a secret of ours');
    return { count: handled.push(body) };
  };
  const admin = createAdminServer({
    host: '127.0.0.1',
    port: 0,
    metrics: new Registry(),
    ready: () => ({ ok: true }),
    operations: {
      routes: [
        { method: 'GET', path: '/letters', handle },
        { method: 'POST', path: '/letters/discard', handle },
      ],
      token,
      limiter: countForever,
    },
    log: createLog({ service: 'test', level: 'silent' }),
  });
  await admin.start();
  stop = () => admin.stop();
  address = admin.address();
  return (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(`${admin.address()}${path}`, { method, headers, agent: false }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        const { 'retry-after': retryAfter } = response.headers;
        response.on('end', () => resolve({ status: response.statusCode, text, retryAfter }));
      });
      sent.on('error', reject).end(method === 'POST' ? '{}' : undefined);
    });
}

const JSON_BODY = { 'content-type': 'application/json' };

describe('the admin port', () => {
  it('shows health and figures to whoever reaches it', async () => {
    const ask = await serve('secret');
    for (const path of ['/livez', '/readyz', '/readyz?verbose', '/metrics'])
      expect((await ask('GET', path, { host: 'node-7.example:14000' })).status).toBe(200);
  });

  it.each([
    ['GET', '/', 404, 'NOT_FOUND'],
    ['GET', '/letters/nowhere', 404, 'NOT_FOUND'],
    ['GET', '/%zz', 404, 'NOT_FOUND'],
    ['POST', '/livez', 404, 'NOT_FOUND'],
    ['POST', '/letters/discard?xml', 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['POST', '/letters/discard?wrong', 400, 'BAD_USER_INPUT'],
    ['POST', '/letters/discard?broken', 500, 'INTERNAL_SERVER_ERROR'],
  ])('refuses what it does not know as the API does: %s %s', async (method, path, status, code) => {
    const ask = await serve();
    const answer = await ask(method, path, path.endsWith('xml') ? { 'content-type': 'text/xml' } : JSON_BODY);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      status,
      { message: expect.stringMatching(/\.$/), error: { code, ...(path.endsWith('wrong') && { details: DETAILS }) } },
    ]);
  });

  it('lets callers on this machine look and act when there is no token', async () => {
    const ask = await serve();
    expect((await ask('GET', '/letters')).status).toBe(200);
    expect((await ask('POST', '/letters/discard', JSON_BODY)).status).toBe(200);
  });

  it.each<[string, Record<string, string>]>([
    ['whose own name leads here', { host: 'evil.example:14000' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['through a proxy', { 'x-forwarded-for': '127.0.0.1' }],
  ])('does nothing for a page %s', async (_what, headers) => {
    const ask = await serve();
    const answers = [
      await ask('GET', '/letters', headers),
      await ask('POST', '/letters/discard', { ...JSON_BODY, ...headers }),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(403);
      expect(JSON.parse(text)).toEqual({ message: expect.any(String), error: { code: 'FORBIDDEN' } });
    }
    expect(handled).toEqual([]);
  });

  it('lets those with the token look and act, from wherever, and nobody else', async () => {
    const ask = await serve('secret');
    const authorization = 'Bearer secret';
    expect((await ask('GET', '/letters', { authorization, host: 'node-7.example' })).status).toBe(200);
    expect((await ask('POST', '/letters/discard', { ...JSON_BODY, authorization })).status).toBe(200);
    expect(handled).toHaveLength(2);
    expect((await ask('GET', '/letters')).status).toBe(401);
    expect((await ask('POST', '/letters/discard', { ...JSON_BODY, authorization: 'Bearer wrong' })).status).toBe(401);
    expect(handled).toHaveLength(2);
  });

  it('refuses a caller after ten wrong tokens, even with the right one, and does nothing', async () => {
    const ask = await serve('secret');
    const tokens = Array.from({ length: 10 }, (_, index) => `wrong-${index}`);
    const read = (token: string) => ask('GET', '/letters', { authorization: `Bearer ${token}` });
    for (const token of tokens) expect((await read(token)).status).toBe(401);
    for (const token of ['secret', 'wrong-10', 'wrong-0']) {
      const { status, text, retryAfter } = await read(token);
      expect([status, retryAfter]).toEqual([429, '900']);
      expect(JSON.parse(text)).toEqual({ message: expect.any(String), error: { code: 'RATE_LIMITED' } });
    }
    const authorization = 'Bearer secret';
    expect((await ask('POST', '/letters/discard', { ...JSON_BODY, authorization })).status).toBe(429);
    expect((await ask('GET', '/letters')).status).toBe(401); // without a token, nothing is guessed
    expect((await ask('GET', '/metrics', { authorization })).status).toBe(200);
    expect(handled).toEqual([]);
  });

  it('does not tell the right token among many that are sent at once', async () => {
    const ask = await serve('secret');
    const tokens = [...Array.from({ length: 50 }, (_, index) => `wrong-${index}`), 'secret'];
    const answers = await Promise.all(
      tokens.map((token) => ask('GET', '/letters', { authorization: `Bearer ${token}` })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status !== 429)).toHaveLength(10);
    expect((await ask('GET', '/letters', { authorization: 'Bearer secret' })).status).toBe(429);
  });

  it('takes the same outdated token again and again for no further guess', async () => {
    const ask = await serve('secret');
    for (let tries = 0; tries < 20; tries++)
      expect((await ask('GET', '/letters', { authorization: 'Bearer outdated' })).status).toBe(401);
    expect((await ask('GET', '/letters', { authorization: 'Bearer secret' })).status).toBe(200);
  });

  it('counts nothing where no token is needed', async () => {
    const ask = await serve();
    for (let tries = 0; tries < 20; tries++)
      expect((await ask('GET', '/letters', { authorization: `Bearer ${tries}` })).status).toBe(200);
  });

  it('stops beside a connection that never asks for anything', async () => {
    const ask = await serve();
    const silent = connect(Number(new URL(address).port), '127.0.0.1').resume();
    await once(silent, 'connect');
    await ask('GET', '/livez'); // it is accepted before this request
    await Promise.all([stop(), once(silent, 'close')]);
  });
});
