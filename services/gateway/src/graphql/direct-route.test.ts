import { NO_TRACING } from '@taskmesh/telemetry';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDirectRoute } from './direct-route.ts';
import { createResponseTypes } from './response-types.ts';

const measured: [string | undefined, number][] = [];
let fails = false;
let server: Server;

beforeAll(async () => {
  const answerDirectly = createDirectRoute({
    context: { tracing: NO_TRACING },
    handler: {
      answer: async ({ raw }) => {
        raw.resume();
        if (fails) throw new Error('planted');
        return { status: 200, headers: [['content-type', 'application/json']], body: '{"data":"ä"}\n' };
      },
      failed: (error) => ({ status: 500, headers: [], body: String(error) }),
    },
    chooseTypes: createResponseTypes({ canStream: true }),
    measure: ({ routeOptions }, status) => void measured.push([routeOptions.url, status]),
  });
  server = createServer((incoming, response) => {
    if (!answerDirectly(incoming, response)) response.end('framework');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  measured.length = 0;
  fails = false;
});
afterAll(() => void server.close());

const PLAIN = { accept: '*/*', 'content-type': 'application/json' };

function send(options: { method?: string; path?: string; headers?: Record<string, string | string[]> } = {}) {
  const { method = 'POST', path = '/graphql', headers = PLAIN } = options;
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number | undefined;
    text: string;
    raw: string[];
  }>();
  const { port } = server.address() as AddressInfo; // it listens on TCP
  request({ port, method, path, headers }, (answer) => {
    let text = '';
    answer
      .setEncoding('utf8')
      .on('data', (chunk: string) => (text += chunk))
      .on('end', () => resolve({ status: answer.statusCode, text, raw: answer.rawHeaders }));
  })
    .on('error', reject)
    .end(method === 'POST' ? '{}' : undefined);
  return promise;
}

it('a plain operation is answered here, with its id, and counted as one of its route', async () => {
  const { status, text, raw } = await send();
  expect([status, text]).toEqual([200, '{"data":"ä"}\n']);
  expect(raw.slice(0, 8)).toEqual([
    ...['x-request-id', expect.stringMatching(/^[0-9a-f-]{36}$/), 'vary', 'Origin'],
    ...['content-type', 'application/json', 'content-length', '14'],
  ]);
  expect(measured).toEqual([['/graphql', 200]]);
});

it('what keeps it from an answer is told', async () => {
  fails = true;
  expect(await send()).toMatchObject({ status: 500, text: 'Error: planted' });
  expect(measured).toEqual([['/graphql', 500]]);
});

it.each([
  ['another path', { path: '/graphql/' }],
  ['a query in the address', { path: '/graphql?x=1' }],
  ['another method', { method: 'GET' }],
  ['another type', { headers: { ...PLAIN, 'content-type': 'application/json; charset=utf-8' } }],
  ['an encoding', { headers: { ...PLAIN, 'content-encoding': 'gzip' } }],
  ['chunks', { headers: { ...PLAIN, 'transfer-encoding': 'chunked' } }],
  ['an origin', { headers: { ...PLAIN, origin: 'https://app.example' } }],
  ['a stream that its client accepts', { headers: { ...PLAIN, accept: 'application/json, text/event-stream' } }],
  ['no type that we have', { headers: { ...PLAIN, accept: 'text/csv' } }],
])('a request with %s is left to the framework', async (_what, options) => {
  expect((await send(options as Parameters<typeof send>[0])).text).toBe('framework');
  expect(measured).toEqual([]);
});
