import { AppError } from '@taskmesh/contracts';
import { useGateway, USER } from './fakes/gateway.ts';

const OTHER = 'b0000000-0000-4000-8000-000000000002';

describe.each(['compiled', 'apollo'])('the graph with the %s executor', (executor) => {
  const gateway = useGateway({ mode: 'http', env: { GATEWAY_EXECUTOR: executor } });
  let token: string;
  beforeEach(() => {
    ({ token } = gateway);
    gateway.auth.callers.length = 0;
    gateway.tasks.calls.length = 0;
    gateway.tasks.fail(undefined);
  });

  it('runs no mutation after a failed one, at any service, and returns null for all', async () => {
    const query = `mutation ($input: LoginInput!) {
      login(input: $input) { expiresIn }
      createTask(input: { title: "of whom?" }) { id }
    }`;
    const variables = { input: { email: OTHER, password: 'wrong password' } };
    const { body } = await gateway.graphql(query, { token, variables });
    expect([body.data, body.errors?.map(({ path }) => path)]).toEqual([null, [['login']]]);
    expect(gateway.tasks.calls).toEqual([]);
    const right = { input: { email: OTHER, password: 'right password' } };
    expect((await gateway.graphql(query, { token, variables: right })).body.errors).toBeUndefined();
    expect(gateway.tasks.calls.map(({ identity }) => identity)).toMatchObject([{ userId: OTHER }]);
  });

  it("sends the client's address to auth and tasks, for their limits, and its program to auth only", async () => {
    await gateway.graphql('{ me { id } taskStatistics { total } }', { token });
    expect(gateway.auth.callers[0]).toMatchObject({ ip: '127.0.0.1', client: 'node' });
    expect(gateway.tasks.calls[0]?.identity).toHaveProperty('ip', '127.0.0.1');
    expect(gateway.tasks.calls[0]?.identity).not.toHaveProperty('client');
  });

  it('traces no fields for a client', async () => {
    const headers = { 'apollo-federation-include-trace': 'ftv1' };
    const { body } = await gateway.graphql('{ taskStatistics { total } }', { token, headers });
    expect(body).toEqual({ data: { taskStatistics: { total: 2 } } });
    expect(gateway.tasks.calls.map((call) => Boolean(call.isTraced))).toEqual([false]);
  });

  it.each([
    new Error('column "secret" of http://10.0.0.7 does not exist'),
    new AppError('SECRET' as never, 'inner workings'),
  ])('reports only the request id of a defect, which is logged: %s', async (error) => {
    gateway.tasks.fail(error);
    const { body, headers } = await gateway.graphql('{ taskStatistics { total } }', { token });
    const requestId = headers.get('x-request-id');
    const extensions = { code: 'INTERNAL_SERVER_ERROR', requestId };
    expect(body.errors).toEqual([{ message: 'Internal server error', path: ['taskStatistics'], extensions }]);
    expect(gateway.logged).toContainEqual(expect.objectContaining({ level: 'error', requestId }));
  });

  it('reports SERVICE_UNAVAILABLE for the fields of an unavailable service at once, and returns all others', async () => {
    await gateway.stopService('tasks');
    const began = performance.now();
    const gone = await gateway.graphql('{ taskStatistics { total } }', { token });
    expect([gone.status, gone.headers.get('retry-after')]).toEqual([503, '1']);
    expect(gone.body.errors?.[0]?.extensions).toEqual({ code: 'SERVICE_UNAVAILABLE' });
    expect(JSON.stringify(gone.body)).not.toMatch(/127\.0\.0\.1|ECONN|undici/);
    expect(performance.now() - began).toBeLessThan(5_000);
    expect((await gateway.graphql('{ me { id } }', { token })).body.data).toEqual({ me: { id: USER } });
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
  });
});
