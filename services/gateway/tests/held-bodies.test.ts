import { eventually } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchGraphQL, postGraphQL, startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { openRaw, rawGraphQL, rawRequest, statusOf, type RawSocket } from '@taskmesh/testing/raw';

const MIB = 1024 * 1024;

const gateway = await startTestGateway();

describe('many large unfinished bodies', () => {
  const BODY = { query: '{ __typename }', padding: 'x'.repeat(MIB - 100) };

  it('are kept up to a limit, the oldest get a 503, and complete ones and ordinary requests are served', async () => {
    const unfinished = rawGraphQL(BODY).slice(0, -1);
    const sockets = await Promise.all(Array.from({ length: 60 }, () => openRaw(gateway.origin, unfinished)));
    const isRefused = ({ answer }: RawSocket) => answer.includes('\r\n\r\n');
    await eventually(() => sockets.some(isRefused));
    const { answer = '' } = sockets.find(isRefused) ?? {};
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer.toLowerCase()).toContain('retry-after: 1\r\n');
    expect((await postGraphQL(gateway.origin, BODY)).status).toBe(200);
    expect((await gateway.graphql('{ __typename }')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    for (let tries = 0; (await postGraphQL(gateway.origin, BODY)).status !== 200; tries++)
      expect(tries).toBeLessThan(100);
  });
});

describe('large bodies whose clients have disconnected', () => {
  const OTHER_USER = 'a0000000-0000-4000-8000-000000000003';
  const users = [1, 2].map((digit) => `a0000000-0000-4000-8000-00000000000${digit}`);
  let busy: TestGateway;
  let isHeld = true;
  const ends: (() => void)[] = [];

  beforeAll(async () => {
    busy = await startTestGateway({
      env: { TRUSTED_PROXIES: '127.0.0.1' },
      wrap: (connections) => ({
        ...connections,
        async request(...args) {
          if (isHeld) await new Promise<void>((resolve) => ends.push(resolve));
          return connections.request(...args);
        },
      }),
    });
  });

  it('count until their processing has ended, for all accounts of their network together', async () => {
    const query = '{ taskStatistics { total } }';
    const body = JSON.stringify({ query, padding: 'x'.repeat(MIB - 100) });
    const client = new AbortController();
    const send = async (user: string, from: string, signal?: AbortSignal) => {
      const headers = { authorization: `Bearer ${await busy.auth.token(user)}`, 'x-forwarded-for': from };
      return fetchGraphQL(busy.origin, body, headers, signal);
    };
    const all = users.flatMap((user) => Array.from({ length: 8 }, () => send(user, '192.0.2.1', client.signal)));
    const outcomes = Promise.allSettled(all);
    await eventually(() => expect(ends).toHaveLength(all.length));
    client.abort();
    for (const { status } of await outcomes) expect(status).toBe('rejected');
    await sleep(200);
    isHeld = false;
    expect((await send(OTHER_USER, '192.0.2.1')).status).toBe(503);
    expect((await send(OTHER_USER, '192.0.2.2')).status).toBe(200);
    for (const end of ends) end();
    await eventually(async () => expect((await send(OTHER_USER, '192.0.2.1')).status).toBe(200), { timeoutMs: 5_000 });
  });
});

it('large bodies of streams no longer count once their streams have begun', async () => {
  const leave = new AbortController();
  const body = JSON.stringify({ query: 'subscription { taskChanges { cursor } }', padding: 'x'.repeat(MIB - 100) });
  const open = async (at: number) => {
    const authorization = `Bearer ${await gateway.auth.token(`a0000000-0000-4000-8000-00000000000${at % 4}`)}`;
    return fetchGraphQL(gateway.origin, body, { authorization, accept: 'text/event-stream' }, leave.signal);
  };
  for (let at = 0; at < 40; at++) expect((await open(at)).status).toBe(200);
  leave.abort();
});

it.each(['gzip, chunked', 'deflate, chunked'])('an unsupported transfer encoding is a 415: %s', async (coding) => {
  const head = rawRequest('POST /graphql', ['Content-Type: application/json', `Transfer-Encoding: ${coding}`]);
  const socket = await openRaw(gateway.origin, `${head}1a\r\n{"query":"{ __typename }"}\r\n0\r\n\r\n`);
  expect(await statusOf(socket)).toBe(415);
});
