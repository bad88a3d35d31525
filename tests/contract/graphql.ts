import { randomUUID } from 'node:crypto';
import { eventually } from '@taskmesh/testing';
import { type Account, clientOf, newEmail, PASSWORD, type Platform } from './client.ts';

interface Session {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  user: { id: string; email: string; name: string };
}

/** The GraphQL API: its error codes, its limits, and decisions about it. */
export function describeGraphql(platform: () => Platform) {
  const client = clientOf(platform);
  let owner: Account;

  beforeAll(async () => {
    owner = await client.signUp();
  });

  const run = async <Data>(
    query: string,
    { variables, token }: { variables?: object; token?: string | undefined } = { token: owner.token },
  ) => {
    const { body } = await client.graphql<Data>(query, { token, ...(variables && { variables }) });
    return {
      data: body.data,
      codes: (body.errors ?? []).map(({ extensions }) => extensions.code),
      errors: body.errors ?? [],
    };
  };
  const codes = async (query: string, options?: { variables?: object; token?: string | undefined }) =>
    (await run(query, options)).codes;
  const asOwner = (variables: object) => ({ variables, token: owner.token });

  describe('GraphQL errors', () => {
    it.each([
      ...['{ me { id } }', '{ tasks { totalCount } }', '{ taskStatistics { total } }', 'mutation { logout }'],
      'mutation { createTask(input: {title: "abc"}) { id } }',
      'mutation { refreshSession(refreshToken: "nonsense") { expiresIn } }',
      'mutation { login(input: {email: "unknown@example.com", password: "x"}) { expiresIn } }',
    ])('are UNAUTHENTICATED without a valid token: %s', async (query) => {
      for (const token of [undefined, 'nonsense']) expect(await codes(query, { token })).toEqual(['UNAUTHENTICATED']);
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
    ])('are returned for %s: %s', async (query, code) => {
      expect(await codes(query)).toEqual([code]);
    });
  });

  describe('the graph', () => {
    it('allows only those queries over GET that a foreign page could not have sent', async () => {
      const get = (headers: Record<string, string>) =>
        client.call('GET', '/graphql?query={__typename}', { headers: { accept: 'application/json', ...headers } });
      const foreignPages: Record<string, string>[] = [
        { origin: 'https://evil.example' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ];
      for (const foreign of foreignPages) {
        expect((await get(foreign)).status).toBe(400);
        expect((await get({ ...foreign, 'apollo-require-preflight': '1' })).status).toBe(200);
      }
      for (const own of ['none', 'same-origin']) expect((await get({ 'sec-fetch-site': own })).status).toBe(200);
    });

    it('runs the fields after a sign-in as its user, even with a stale token', async () => {
      const email = newEmail();
      const query =
        'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken refreshToken expiresIn user { id email name taskStatistics { total } } } }';
      const { data, codes: none } = await run<{ signUp: Session }>(query, {
        variables: { input: { email, password: PASSWORD, name: ' Ada ' } },
        token: 'stale',
      });
      expect(none).toEqual([]);
      const user = { email, name: 'Ada', taskStatistics: { total: 0 } };
      expect(data.signUp).toMatchObject({ expiresIn: 3_600, user });
      const refreshed = await run<{ refreshSession: Session }>(
        'mutation ($token: String!) { refreshSession(refreshToken: $token) { accessToken user { email } } }',
        { variables: { token: data.signUp.refreshToken }, token: 'stale' },
      );
      expect(refreshed.data.refreshSession.user.email).toBe(email);
      const out = await run<{ logout: boolean }>('mutation { logout }', {
        token: refreshed.data.refreshSession.accessToken,
      });
      expect(out.data).toEqual({ logout: true });
      await eventually(
        async () =>
          expect(await codes('{ me { id } }', { token: data.signUp.accessToken })).toEqual(['UNAUTHENTICATED']),
        { timeoutMs: 1_000 },
      );
    });

    it('shows the same tasks as REST, and null for tasks that do not exist or belong to others', async () => {
      const input = { title: 'From the graph', dueDate: '2026-01-01T00:00:00+01:00', priority: 'HIGH' };
      const created = await run<{ createTask: { id: string } }>(
        'mutation ($input: CreateTaskInput!) { createTask(input: $input) { id title description completed dueDate category priority version owner { id email } } }',
        asOwner({ input }),
      );
      expect(created.codes).toEqual([]);
      const task = created.data.createTask;
      const due = '2025-12-31T23:00:00.000Z';
      expect(task).toEqual({
        ...{ ...input, dueDate: due, id: task.id, description: null, completed: false, category: null, version: 1 },
        owner: { id: owner.id, email: owner.email },
      });
      const rest = await client.call('GET', `/full/api/tasks/${task.id}`, { token: owner.token });
      expect(rest.body.data).toMatchObject({ title: input.title, due_date: due, priority: 'high' });

      const stranger = await client.signUp();
      for (const { id, token } of [
        { id: task.id, token: stranger.token },
        { id: randomUUID(), token: owner.token },
        { id: 'nonsense', token: owner.token },
      ])
        expect(await run('query ($id: ID!) { task(id: $id) { id } }', { variables: { id }, token })).toEqual({
          data: { task: null },
          codes: [],
          errors: [],
        });
      const deletion = `mutation { deleteTask(id: "${task.id}") }`;
      expect(await codes(deletion, { token: stranger.token })).toEqual(['NOT_FOUND']);
    });

    it('has cursors that survive the deletion of their row, and are bound to their order', async () => {
      const { token } = await client.signUp();
      for (const title of ['one', 'two', 'three', 'four'])
        await client.call('POST', '/full/api/tasks', { token, json: { title } });
      interface Page {
        tasks: {
          edges: { cursor: string; node: { id: string; title: string } }[];
          totalCount: number;
          pageInfo: { hasNextPage: boolean; endCursor: string };
        };
      }
      const page = (args: string) =>
        run<Page>(
          `{ tasks(${args}) { edges { cursor node { id title } } totalCount pageInfo { hasNextPage endCursor } } }`,
          { token },
        );
      const first = (await page('first: 2')).data.tasks;
      expect(first.edges.map(({ node }) => node.title)).toEqual(['four', 'three']);
      expect(first).toMatchObject({
        totalCount: 4,
        pageInfo: { hasNextPage: true, endCursor: first.edges[1]?.cursor },
      });
      await client.call('DELETE', `/full/api/tasks/${first.edges[1]?.node.id}`, { token });
      const after = `after: "${first.pageInfo.endCursor}"`;
      const second = (await page(`first: 2, ${after}`)).data.tasks;
      expect(second.edges.map(({ node }) => node.title)).toEqual(['two', 'one']);
      expect(second).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: false } });
      expect((await page(`${after}, offset: 1`)).codes).toEqual(['BAD_USER_INPUT']);
      expect((await page(`${after}, orderBy: {field: PRIORITY, direction: ASC}`)).codes).toEqual(['BAD_USER_INPUT']);
    });
  });
}
