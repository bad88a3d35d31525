import { randomUUID } from 'node:crypto';
import { eventually } from '@taskmesh/testing';
import { newEmail, PASSWORD } from '../http.ts';
import { type Account, clientOf, type Platform } from './client.ts';

interface Session {
  accessToken: string;
  refreshToken: string;
  user: { email: string };
}

type Page = { edges: { cursor: string; node: { id: string; title: string } }[] };

/** The GraphQL API: its error codes, its limits, and decisions about it. */
export function describeGraphql(platform: () => Platform) {
  const client = clientOf(platform);
  let owner: Account;

  beforeAll(async () => {
    owner = await client.signUp();
  });

  const run = async <Data>(query: string, token: string | undefined = owner.token, variables?: object) => {
    const { body } = await client.graphql<Data>(query, { token: token || undefined, ...(variables && { variables }) });
    return { data: body.data, codes: (body.errors ?? []).map(({ extensions }) => extensions.code) };
  };

  describe('GraphQL errors', () => {
    it.each([
      ...['{ me { id } }', '{ tasks { totalCount } }', '{ taskStatistics { total } }', 'mutation { logout }'],
      'mutation { createTask(input: {title: "abc"}) { id } }',
      'mutation { refreshSession(refreshToken: "nonsense") { expiresIn } }',
      'mutation { login(input: {email: "unknown@example.com", password: "x"}) { expiresIn } }',
    ])('are UNAUTHENTICATED without a valid token: %s', async (query) => {
      for (const token of ['', 'nonsense']) expect((await run(query, token)).codes).toEqual(['UNAUTHENTICATED']);
    });

    it.each([
      ['{ _entities(representations: []) { __typename } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ _service { sdl } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['mutation { updateTask(id: "nonsense", input: {}) { id } }', 'NOT_FOUND'],
      ['mutation { deleteTask(id: "0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d") }', 'NOT_FOUND'],
      ['mutation { createBackup { file } }', 'FORBIDDEN'],
      ['mutation { deleteBackup(file: "x.tar.gz") }', 'FORBIDDEN'],
      ['{ backups { file } }', 'FORBIDDEN'],
      ['mutation { restoreBackup(file: "x.tar.gz") { success } }', 'FORBIDDEN'],
      ['mutation { dryRunRestore(file: "x.tar.gz") { possible } }', 'FORBIDDEN'],
      ['mutation { newEpoch { epoch } }', 'FORBIDDEN'],
    ])('are returned for %s: %s', async (query, code) => expect((await run(query)).codes).toEqual([code]));
  });

  describe('the graph', () => {
    it('allows only those queries over GET that a foreign page could not have sent', async () => {
      const get = (headers: Record<string, string>) =>
        client.call('GET', '/graphql?query={__typename}', { headers: { accept: 'application/json', ...headers } });
      for (const [name, value] of [
        ['origin', 'https://evil.example'],
        ['sec-fetch-site', 'cross-site'],
        ['sec-fetch-site', 'same-site'],
      ] as const) {
        expect((await get({ [name]: value })).status).toBe(400);
        expect((await get({ [name]: value, 'apollo-require-preflight': '1' })).status).toBe(200);
      }
      for (const own of ['none', 'same-origin']) expect((await get({ 'sec-fetch-site': own })).status).toBe(200);
    });

    it('runs the fields after a sign-in as its user, even with a stale token', async () => {
      const email = newEmail();
      const query =
        'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken refreshToken expiresIn user { id email name taskStatistics { total } } } }';
      const input = { email, password: PASSWORD, name: ' Ada ' };
      const { data } = await run<{ signUp: Session }>(query, 'stale', { input });
      const user = { email, name: 'Ada', taskStatistics: { total: 0 } };
      expect(data.signUp).toMatchObject({ expiresIn: 3_600, user });
      const refresh =
        'mutation ($token: String!) { refreshSession(refreshToken: $token) { accessToken user { email } } }';
      const refreshed = await run<{ refreshSession: Session }>(refresh, 'stale', { token: data.signUp.refreshToken });
      expect(refreshed.data.refreshSession.user.email).toBe(email);
      const out = await run('mutation { logout }', refreshed.data.refreshSession.accessToken);
      expect(out.data).toEqual({ logout: true });
      const isEnded = async () => (await run('{ me { id } }', data.signUp.accessToken)).codes[0] === 'UNAUTHENTICATED';
      await eventually(isEnded, { timeoutMs: 1_000 });
    });

    it('shows the same tasks as REST, and null for tasks that do not exist or belong to others', async () => {
      const input = { title: 'From the graph', dueDate: '2026-01-01T00:00:00+01:00', priority: 'HIGH' };
      const created = await run<{ createTask: { id: string } }>(
        'mutation ($input: CreateTaskInput!) { createTask(input: $input) { id title description completed dueDate category priority version owner { id email } } }',
        owner.token,
        { input },
      );
      const task = created.data.createTask;
      const due = '2025-12-31T23:00:00.000Z';
      expect(task).toEqual({
        ...{ ...input, dueDate: due, id: task.id, description: null, completed: false, category: null, version: 1 },
        owner: { id: owner.id, email: owner.email },
      });
      const rest = await client.call('GET', `/full/api/tasks/${task.id}`, { token: owner.token });
      expect(rest.body.data).toMatchObject({ title: input.title, due_date: due, priority: 'high' });

      const { token: strangers } = await client.signUp();
      const taskOf = (id: string, token?: string) => run(`{ task(id: "${id}") { id } }`, token);
      for (const { data, codes } of [
        await taskOf(task.id, strangers),
        await taskOf(randomUUID()),
        await taskOf('nonsense'),
      ])
        expect([data, codes]).toEqual([{ task: null }, []]);
      expect((await run(`mutation { deleteTask(id: "${task.id}") }`, strangers)).codes).toEqual(['NOT_FOUND']);
    });

    it('has cursors that survive the deletion of their row', async () => {
      const { token } = await client.signUp();
      for (const title of ['one', 'two', 'three', 'four'])
        await client.call('POST', '/full/api/tasks', { token, json: { title } });
      const page = async (args: string) => {
        const query = `{ tasks(${args}) { edges { cursor node { id title } } } }`;
        return (await run<{ tasks: Page }>(query, token)).data.tasks.edges;
      };
      const [, third] = await page('first: 2');
      await client.call('DELETE', `/full/api/tasks/${third?.node.id}`, { token });
      expect((await page(`after: "${third?.cursor}"`)).map(({ node }) => node.title)).toEqual(['two', 'one']);
    });
  });
}
