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
  ])('ends its running requests, and not those of others: %s', async (_what, path, init) => {
    const [client, other] = [new AbortController(), new AbortController()];
    const ask = ({ signal }: AbortController) =>
      fetch(test.origin + path, { ...init, headers, signal }).catch(() => 'gone');
    const [gone] = [ask(client), ask(other)];
    await eventually(() => expect(held).toHaveLength(2));
    const aborted = () => held.filter(({ signal }) => signal?.aborted);
    expect(aborted()).toEqual([]);
    client.abort();
    expect(await gone).toBe('gone');
    await eventually(() => expect(aborted()).toHaveLength(1));
    // The service has not failed.
    expect(test.logged.filter(({ level }) => level === 'warn')).toEqual([]);
    other.abort();
  });

  it('ends its running requests: a socket', async () => {
    const { socket, subscribe } = await connectGraphqlWs(test.origin, token);
    subscribe('1', QUERY);
    await eventually(() => expect(held).toHaveLength(1));
    socket.close();
    await eventually(() => expect(held[0]?.signal?.aborted).toBe(true));
  });
});

it("an event that several streams wait for is not tied to one client's connection", async () => {
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
