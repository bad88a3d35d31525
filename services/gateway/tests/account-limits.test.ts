import { eventually } from '@taskmesh/testing';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { streamGraphqlWs } from './fakes/streams.ts';

const ANN = 'a0000000-0000-4000-8000-000000000001';
const BOB = 'a0000000-0000-4000-8000-000000000002';
const listOf = (alias: string) =>
  `subscription { taskChanges { task { ${alias}: owner { tasks(first: 1000) { edges { node { title } } } } } } }`;

describe('the subscriptions of one account', () => {
  let gateway: TestGateway;
  beforeAll(async () => void (gateway = await startTestGateway()));
  afterAll(() => gateway.stop());

  it('may cost so much together, over all sockets; equal ones count once, and those of others not at all', async () => {
    const [ann, bob] = await Promise.all([ANN, BOB].map((user) => gateway.auth.token(user)));
    const { origin } = gateway;
    const streams = await Promise.all(
      Array.from({ length: 4 }, (_, n) => streamGraphqlWs({ origin, token: ann ?? '', query: listOf(`a${n}`) })),
    );
    const equal = await streamGraphqlWs({ origin, token: ann ?? '', query: listOf('a0') });
    const ofBob = await streamGraphqlWs({ origin, token: bob ?? '', query: listOf('a4') });
    const refused = { origin, token: ann ?? '', query: listOf('a4') };
    const { errors } = await streamGraphqlWs(refused);
    await eventually(() => expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]));
    const response = await fetch(`${origin}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${ann}` },
      body: JSON.stringify({ query: refused.query }),
    });
    expect(response.status).toBe(429);
    gateway.commit(ANN, { title: 'new' });
    for (const { events } of [...streams, equal]) await eventually(() => expect(events).toHaveLength(1));
    gateway.commit(BOB, { title: 'new' });
    await eventually(() => expect(ofBob.events).toHaveLength(1));
    for (const stream of [...streams, equal, ofBob]) stream.close();
  });
});
