import { unavailable } from '@taskmesh/contracts';
import { eventually, fastestOf } from '@taskmesh/testing';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { streamChannel, streamGraphqlWs, streamHttp, type TestStream } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const CHANGES = 'subscription { taskChanges { sequence } }';
const CREATE = 'mutation { createTask(input: { title: "By a program" }) { id } }';
const READ_ONLY = { message: expect.stringContaining('may only read'), extensions: { code: 'FORBIDDEN' } };

const STREAMS = {
  'graphql-ws': (request: Request) => streamGraphqlWs(request),
  sse: (request: Request) => streamHttp('sse', request),
  multipart: (request: Request) => streamHttp('multipart', request),
  channel: (request: Request) => streamChannel(request),
};
type Request = Parameters<typeof streamGraphqlWs>[0];

const open: TestStream[] = [];
const stream = async (at: TestGateway, protocol: keyof typeof STREAMS, token: string) => {
  const opened = await STREAMS[protocol]({ origin: at.origin, token, query: CHANGES });
  open.push(opened);
  await eventually(async () =>
    expect(await at.metrics.metrics()).toContain(`taskmesh_realtime_subscriptions{protocol="${protocol}"} 1\n`),
  );
  return opened;
};
const meStatus = async (at: TestGateway, token: string) =>
  (await fetch(`${at.origin}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })).status;

describe.each(['in-process', 'http'] as const)('a personal token, services %s', (mode) => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway({ mode });
  });
  afterEach(async () => {
    for (const each of open.splice(0)) each.close();
    await gateway.stop();
  });

  it('asks over GraphQL, and the services learn that it does', async () => {
    const { token, id } = gateway.auth.personalToken(USER, 'write');
    const { body } = await gateway.graphql('{ me { id } }', { token });
    expect(body).toEqual({ data: { me: { id: USER } } });
    expect(gateway.auth.callers.at(-1)).toMatchObject({ role: 'user', userId: USER, sessionId: id, scope: 'write' });
    expect((await gateway.graphql(CREATE, { token })).body.errors).toBeUndefined();
  });

  it('that may only read is refused each mutation by name, and each transport says so', async () => {
    const { token } = gateway.auth.personalToken(USER, 'read');
    expect((await gateway.graphql('{ me { id } }', { token })).body).toEqual({ data: { me: { id: USER } } });
    expect((await gateway.graphql(CREATE, { token })).body).toMatchObject({ data: null, errors: [READ_ONLY] });
    const both =
      'mutation { a: createTask(input: { title: "One" }) { id } b: createTask(input: { title: "Two" }) { id } }';
    expect((await gateway.graphql(both, { token })).body.data).toBeNull();
    const overWs = await streamGraphqlWs({ origin: gateway.origin, token, query: CREATE });
    open.push(overWs);
    await eventually(() => expect(overWs.events).toMatchObject([{ data: null, errors: [READ_ONLY] }]));
    const fields = 'mutation { login(input: { email: "a@example.com", password: "x" }) { expiresIn } }';
    expect((await gateway.graphql(fields, { token })).body).toMatchObject({ data: null, errors: [READ_ONLY] });
  });

  it.each(Object.keys(STREAMS) as (keyof typeof STREAMS)[])(
    'for reading follows changes over %s, until it ends',
    async (protocol) => {
      const { token, id } = gateway.auth.personalToken(USER, 'read');
      const opened = await stream(gateway, protocol, token);
      gateway.commit(USER);
      await eventually(() => expect(opened.events).toHaveLength(1));
      gateway.auth.end(id);
      await eventually(() => expect(opened.ended).toBeDefined());
      expect(await meStatus(gateway, token)).toBe(401);
    },
  );
});

describe('a personal token that ends', () => {
  let gateway: TestGateway;
  let other: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway();
    other = await startTestGateway({ beside: gateway });
  });
  afterEach(async () => {
    await other.stop();
    await gateway.stop();
  });

  it('counts no more at any gateway within a second, although all have just looked at it', async () => {
    const round = async () => {
      const { token, id } = gateway.auth.personalToken(USER, 'write');
      const statuses = () => Promise.all([gateway, other].map((each) => meStatus(each, token)));
      expect(await statuses()).toEqual([200, 200]);
      gateway.auth.end(id);
      const begun = performance.now();
      await eventually(async () => expect(await statuses()).toEqual([401, 401]));
      return performance.now() - begun;
    };
    expect(await fastestOf(round)).toBeLessThan(1_000);
  });
});

it('a personal token that was seen before continues while auth is away, and one that was not is a 503', async () => {
  const gateway = await startTestGateway();
  const [known, unknown] = [gateway.auth.personalToken(USER, 'read'), gateway.auth.personalToken(USER, 'read')];
  expect(await meStatus(gateway, known.token)).toBe(200);
  gateway.auth.failInternal(unavailable());
  expect([await meStatus(gateway, known.token), await meStatus(gateway, unknown.token)]).toEqual([200, 503]);
  await gateway.stop();
});
