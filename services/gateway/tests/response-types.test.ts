import { ask, startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const JSON_TYPE = 'application/json; charset=utf-8';
const RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

let gateway: TestGateway;
let token: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  token = await gateway.auth.token(USER);
});
afterAll(() => gateway.stop());

const signedIn = (accept: string) => ({ accept, authorization: `Bearer ${token}` });

describe('a request whose response no acceptable type can carry', () => {
  it.each([
    'application/json;v=2',
    'application/json;q=0',
    '*/*;q=0',
    'application/json; charset=iso-8859-1',
    'application/graphql-response+json;v=2, application/json;q=0',
    'text/event-stream;q=0',
    'text/event-stream;v=2',
    'multipart/mixed',
    'multipart/mixed;deferSpec=20220824',
    'text/csv',
    'application/jsonp',
    'nonsense',
  ])('is refused with 406 and has no effect: %s', async (accept) => {
    for (const query of [
      'mutation { createTask(input: { title: "x" }) { id } }',
      'mutation { refreshSession(refreshToken: "x") { accessToken } }',
      'mutation { logout }',
      '{ taskStatistics { total } }',
    ])
      // The second time, nothing may be remembered of the first.
      for (let times = 0; times < 2; times++) {
        const before = gateway.tasks.calls.length;
        const answer = await ask(gateway.origin, { query }, signedIn(accept));
        expect([answer.status, answer.body.data]).toEqual([406, undefined]);
        expect(answer.body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
        expect(gateway.tasks.calls).toHaveLength(before);
      }
    const me = await gateway.graphql('{ taskStatistics { total } }', { token });
    expect(me.body).toEqual({ data: { taskStatistics: { total: 2 } } }); // not logged out
  });
});

describe('the type of a response', () => {
  it.each([
    ['application/json;charset=UTF-8', JSON_TYPE],
    ['application/json;v=2, application/json;q=0.1', JSON_TYPE],
    ['application/json;q=0, */*', RESPONSE_TYPE],
    ['application/graphql-response+json;q=0, */*', JSON_TYPE],
    ['application/graphql-response+json;q=0.1, application/json;v=2', RESPONSE_TYPE],
    ['text/event-stream;q=0, */*', JSON_TYPE],
    ['text/event-stream;v=2, application/json;q=0.1', JSON_TYPE],
    ['', JSON_TYPE],
  ])('is one that the client accepts: %s', async (accept, type) => {
    const answer = await ask(gateway.origin, { query: '{ taskStatistics { total } }' }, signedIn(accept));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
  });

  it('is a stream for a client that refuses JSON', async () => {
    const sent = { query: '{ taskStatistics { total } }' };
    for (const [accept, type] of [
      ['application/json;v=2, text/event-stream', 'text/event-stream; charset=utf-8'],
      [
        'multipart/mixed; boundary="-"; subscriptionSpec=1.0',
        'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
      ],
    ]) {
      const response = await fetch(`${gateway.origin}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signedIn(accept as string) },
        body: JSON.stringify(sent),
      });
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect(await response.text()).toContain('{"data":{"taskStatistics":{"total":2}}}');
    }
  });
});
