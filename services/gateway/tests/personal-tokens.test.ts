import { eventually } from '@taskmesh/testing';
import { useGateway } from './fakes/gateway.ts';
import { PROTOCOLS, streamBy, streamGraphqlWs } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const CREATE = 'mutation { createTask(input: { title: "By a program" }) { id } }';
const READ_ONLY = { message: expect.stringContaining('may only read'), extensions: { code: 'FORBIDDEN' } };

describe('a personal token', () => {
  const gateway = useGateway({ mode: 'http' });

  it('asks over GraphQL, and the services learn that it does', async () => {
    const { token, id } = gateway.auth.personalToken(USER, 'write');
    const { body } = await gateway.graphql('{ me { id } }', { token });
    expect(body).toEqual({ data: { me: { id: USER } } });
    expect(gateway.auth.callers.at(-1)).toMatchObject({ role: 'user', userId: USER, sessionId: id, scope: 'write' });
    expect((await gateway.graphql(CREATE, { token })).body.errors).toBeUndefined();
  });

  it('that may only read is refused each mutation by name, over HTTP and sockets', async () => {
    const { token } = gateway.auth.personalToken(USER, 'read');
    expect((await gateway.graphql('{ me { id } }', { token })).body).toEqual({ data: { me: { id: USER } } });
    const login = 'mutation { login(input: { email: "a@example.com", password: "x" }) { expiresIn } }';
    const two =
      'mutation { a: createTask(input: { title: "One" }) { id } b: createTask(input: { title: "Two" }) { id } }';
    for (const query of [CREATE, login, two])
      expect((await gateway.graphql(query, { token })).body).toMatchObject({ data: null, errors: [READ_ONLY] });
    const socket = await streamGraphqlWs({ origin: gateway.origin, token, query: CREATE });
    await eventually(() => expect(socket.events).toMatchObject([{ data: null, errors: [READ_ONLY] }]));
    socket.close();
  });

  it.each(PROTOCOLS)('for reading follows changes over %s, until it ends', async (protocol) => {
    const { token, id } = gateway.auth.personalToken(USER, 'read');
    const query = 'subscription { taskChanges { sequence } }';
    const stream = await streamBy(protocol, { origin: gateway.origin, token, query });
    await eventually(async () =>
      expect(await gateway.figure(`taskmesh_realtime_subscriptions{protocol="${protocol}"}`)).toBe(1),
    );
    gateway.commit(USER);
    await eventually(() => expect(stream.events).toHaveLength(1));
    gateway.auth.end(id);
    await eventually(() => expect(stream.ended).toBeDefined());
    expect((await gateway.graphql('{ me { id } }', { token })).body.data).toBeNull();
    stream.close();
  });
});
