import { unauthenticated } from '@taskmesh/contracts';
import type { Identity } from '@taskmesh/identity';
import { createLog } from '@taskmesh/service';
import { closed } from '@taskmesh/testing';
import { openRaw, rawGraphQL, rawRequest, rawResponse } from '@taskmesh/testing/raw';
import { parse } from 'graphql';
import { once } from 'node:events';
import { createSubgraphServer, type SubgraphServerOptions } from './server.ts';
import { createSubgraph, type SubgraphContext } from './subgraph.ts';

const log = createLog({ service: 'test', level: 'fatal' });
const IDENTITIES: Record<string, Identity> = {
  ada: { role: 'user', userId: 'ada', sessionId: 'session' },
  reader: { role: 'user', userId: 'ada', sessionId: 'token', scope: 'read' },
  gateway: { role: 'service', name: 'gateway' },
  backup: { role: 'service', name: 'backup' },
};
/** The names of the resolvers that were called. */
const calls: string[] = [];
const subgraph = createSubgraph({
  name: 'test',
  typeDefs: parse(`
    type Query { who: String long: String }
    type Mutation { write: Query }
  `),
  resolvers: {
    Query: {
      who: (_: unknown, __: unknown, context: SubgraphContext) => context.identity.role,
      long: () => (calls.push('long'), 'x'.repeat(30_000_000)),
    },
    Mutation: { write: () => (calls.push('write'), {}) },
  },
  log,
});
const options: SubgraphServerOptions = {
  subgraph,
  host: '127.0.0.1',
  port: 0,
  async authenticate(authorization = '') {
    const identity = IDENTITIES[authorization];
    if (!identity) throw unauthenticated();
    return identity;
  },
  routes: [(app) => app.post('/other', async () => 'other')],
  log,
};
const server = createSubgraphServer(options);

beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => void (calls.length = 0));

const post = (authorization: string, query: string, trace = '') =>
  fetch(`${server.address()}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization, 'apollo-federation-include-trace': trace },
    body: JSON.stringify({ query }),
  });

describe('a subgraph server', () => {
  it.each(['/graphql', '/other', '/nothing'])(
    'refuses a stranger at %s by the headers, and closes the connection',
    async (path) => {
      const announced = rawRequest(`POST ${path}`, ['Content-Type: application/json', 'Content-Length: 8000000']);
      const text = await rawResponse(server.address(), `${announced}{`);
      expect(text).toMatch(/^HTTP\/1\.1 401 /);
      expect(text).toMatch(/^connection: close\r$/im);
      expect(text).toContain('"code":"UNAUTHENTICATED"');
    },
  );

  it('traces fields on request', async () => {
    const traced = async (trace: string, authorization = 'gateway') =>
      (await post(authorization, '{ who }', trace)).json();
    const ftv1 = expect.stringMatching(/^[\w+/]+=*$/);
    expect(await traced('ftv1')).toEqual({ data: { who: 'service' }, extensions: { ftv1 } });
    expect(await traced('ftv2')).toEqual({ data: { who: 'service' } });
    expect(await traced('ftv1', 'stranger')).not.toHaveProperty('extensions');
  });

  it.each(['', 'ftv1'])('refuses mutations of callers who may only read (trace: %j)', async (trace) => {
    const response = await post('reader', 'mutation { write { who } }', trace);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    expect(calls).toEqual([]);
  });

  it('refuses other services in its graph', async () => {
    const response = await post('backup', '{ who }');
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('FORBIDDEN')]);
  });

  it('refuses a body that is not JSON', async () => {
    const headers = { 'content-type': 'application/json', authorization: 'gateway' };
    const response = await fetch(`${server.address()}/graphql`, { method: 'POST', headers, body: '{ broken' });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('"errors"')]);
  });

  it('accepts bodies up to 8 MiB', async () => {
    expect((await post('ada', `{ who } #${'x'.repeat(8_000_000)}`)).status).toBe(200);
    expect((await post('ada', `{ who } #${'x'.repeat(8 * 1024 * 1024)}`)).status).toBe(413);
  });

  it('responds to requests that arrive over open connections while it stops', async () => {
    const stopping = createSubgraphServer(options);
    await stopping.start();
    const socket = await openRaw(stopping.address());
    const ask = async () => {
      socket.write(rawGraphQL({ query: '{ who }' }, 'Authorization: ada'));
      return String((await once(socket, 'data'))[0]);
    };
    expect(await ask()).toMatch(/^HTTP\/1.1 200 [^]*connection: keep-alive/i);
    const stopped = stopping.stop();
    await new Promise(setImmediate);
    expect(await ask()).toMatch(/^HTTP\/1.1 200 [^]*connection: close[^]*"who":"user"/i);
    await Promise.all([once(socket, 'close'), stopped]);
  });
});

it('closes the connection of a response that its reader does not accept, so that nothing waits for it', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance', 'Date'] });
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const own = createSubgraphServer(options);
  await own.start();
  const socket = (await openRaw(own.address(), rawGraphQL({ query: '{ long }' }, 'Authorization: ada'))).pause();
  while (!calls.includes('long')) await turns(10);
  await turns(100);
  await jest.advanceTimersByTimeAsync(15_000);
  jest.useRealTimers();
  await closed(socket.resume());
  expect(socket.response.length).toBeLessThan(30_000_000);
  await own.stop();
});
