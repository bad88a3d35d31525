import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

describe.each(['compiled', 'apollo'])(
  'null for a variable that only its default lets stand where it is, by the %s executor',
  (executor) => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await startTestGateway({ env: { GATEWAY_EXECUTOR: executor } });
    });
    afterAll(() => gateway.stop());

    const token = () => gateway.auth.token(USER);
    const refusal = {
      message: 's must not be null.',
      extensions: { code: 'BAD_USER_INPUT', issues: [{ path: 's', message: 's must not be null.' }] },
    };

    it('refuses a mutation before it runs, and not behind what it has changed', async () => {
      gateway.tasks.calls.length = 0;
      const query = `mutation ($s: Boolean = true) {
      createTask(input: { title: "once" }) { id owner { name @include(if: $s) } }
    }`;
      const { body } = await gateway.graphql(query, { token: await token(), variables: { s: null } });
      expect([body.errors, gateway.tasks.calls]).toEqual([[refusal], []]);
    });

    it('refuses a subscription at once, and does not tear it at its first event', async () => {
      const query = 'subscription ($s: Boolean = true) { taskChanges { task { title @include(if: $s) } } }';
      const response = await fetch(`${gateway.origin}/graphql`, {
        method: 'POST',
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          authorization: `Bearer ${await token()}`,
        },
        body: JSON.stringify({ query, variables: { s: null } }),
      });
      expect([response.status, await response.json()]).toEqual([400, { errors: [refusal] }]);
    });

    it('is an ordinary value where null may stand', async () => {
      const query = 'query ($n: Int = 1) { tasks(first: $n) { totalCount } }';
      const { body } = await gateway.graphql(query, { token: await token(), variables: { n: null } });
      expect(body.errors?.map(({ message }) => message)).not.toContain('n must not be null.');
    });
  },
);
