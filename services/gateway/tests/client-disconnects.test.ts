import { unavailable } from '@taskmesh/contracts';
import { eventually } from '@taskmesh/testing';
import type { Connections, RequestOptions } from '../src/connections/connections.ts';
import { connectGraphqlWs, streamGraphqlWs } from './fakes/streams.ts';
import { startTestGateway, USER } from './fakes/gateway.ts';

/** Requests to services while they are held: none gets a response, but callers may disconnect. */
const held: RequestOptions[] = [];
let isHeld = false;

const holding = (connections: Connections): Connections => ({
  ...connections,
  async request(...args) {
    const [, , , options] = args;
    if (!isHeld) return connections.request(...args);
    held.push(options);
    return new Promise((_resolve, reject) => {
      options.signal?.addEventListener('abort', () => reject(unavailable()));
    });
  },
});

const test = await startTestGateway({ wrap: holding });
const token = await test.auth.token(USER);
beforeEach(() => {
  held.length = 0;
  isHeld = true;
});

const QUERY = '{ taskStatistics { total } }';
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

describe('a client that disconnects', () => {
  it.each<[string, string, RequestInit]>([
    ['REST', '/api/tasks', {}],
    ['GraphQL by POST', '/graphql', { method: 'POST', body: JSON.stringify({ query: QUERY }) }],
    ['GraphQL by GET', `/graphql?query=${encodeURIComponent(QUERY)}`, {}],
  ])('ends its running requests: %s', async (_what, path, init) => {
    const client = new AbortController();
    const response = fetch(test.origin + path, { ...init, headers, signal: client.signal });
    await eventually(() => expect(held).toHaveLength(1));
    expect(held[0]?.signal?.aborted).toBe(false);
    client.abort();
    await expect(response).rejects.toThrow('aborted');
    await eventually(() => expect(held[0]?.signal?.aborted).toBe(true));
    // The service has not failed.
    expect(test.logged.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('ends its running requests: a socket', async () => {
    const { socket, subscribe } = await connectGraphqlWs(test.origin, token);
    subscribe('1', QUERY);
    await eventually(() => expect(held).toHaveLength(1));
    socket.close();
    await eventually(() => expect(held[0]?.signal?.aborted).toBe(true));
  });

  it('does not end the requests of others', async () => {
    const client = new AbortController();
    const other = new AbortController();
    const ask = ({ signal }: AbortController) =>
      fetch(`${test.origin}/api/tasks`, { headers, signal }).catch(() => 'gone');
    const [gone] = [ask(client), ask(other)];
    await eventually(() => expect(held).toHaveLength(2));
    client.abort();
    expect(await gone).toBe('gone');
    await eventually(() => expect(held.some(({ signal }) => signal?.aborted)).toBe(true));
    expect(held.filter(({ signal }) => signal?.aborted)).toHaveLength(1);
    other.abort();
  });
});

describe('an event', () => {
  it("that several streams wait for is not tied to one client's connection", async () => {
    isHeld = false;
    const query = 'subscription { taskChanges { sequence task { owner { name } } } }';
    const streams = await Promise.all([1, 2].map(() => streamGraphqlWs({ origin: test.origin, token, query })));
    await eventually(async () => {
      test.commit(USER);
      await eventually(() => expect(streams.every(({ events }) => events.length > 0)).toBe(true), { timeoutMs: 500 });
    });
    isHeld = true;
    test.commit(USER);
    await eventually(() => expect(held.length).toBeGreaterThan(0));
    for (const stream of streams) stream.close();
    for (const { signal } of held) expect(signal).toBeUndefined();
  });
});
