import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { createGraphql, createRest } from '../../support/http.ts';
import { subscribe } from '../../support/subscriber.ts';

interface RestTask {
  id: string;
  user_id: string;
  title: string;
  description: string | null;
  completed: boolean;
  due_date: string | null;
  category: string | null;
  priority: string;
  created_at: string;
  updated_at: string;
}

interface Session {
  access_token: string;
  user: { id: string; email: string; email_confirmed_at: string };
}

/** What a person does with the product, over everything that it offers. `urls`: its gateways. */
export function describeJourney(platform: () => { urls: string[] }) {
  const email = () => `${randomUUID()}@example.com`;
  const password = 'correct horse battery staple';
  const url = () => platform().urls[0] ?? '';
  const rest: ReturnType<typeof createRest> = (...args) => createRest(url())(...args);
  const graphql: ReturnType<typeof createGraphql> = (...args) => createGraphql(url())(...args);

  const signUp = async () => {
    const address = email();
    const { status, body } = await rest<Session>('POST', '/auth/signup', {
      body: { email: address, password, name: 'Ada Lovelace' },
    });
    expect(status).toBe(201);
    expect(Object.keys(body).toSorted()).toEqual(['access_token', 'user']);
    expect(body.user).toEqual({ id: expect.any(String), email: address, email_confirmed_at: expect.any(String) });
    return { ...body, email: address };
  };

  const logIn = async (address: string) => {
    const { data, errors } = await graphql<{
      login: { accessToken: string; refreshToken: string; user: { name: string } };
    }>('mutation($input: LoginInput!) { login(input: $input) { accessToken refreshToken expiresIn user { name } } }', {
      variables: { input: { email: address, password } },
    });
    expect(errors).toBeUndefined();
    expect(data.login).toMatchObject({
      refreshToken: expect.any(String),
      expiresIn: 3600,
      user: { name: 'Ada Lovelace' },
    });
    return data.login.accessToken;
  };

  /** Where the feed stands in the same snapshot as the list: subscribing from there misses nothing. */
  const cursorOf = async (token: string) =>
    (await graphql<{ tasks: { changesCursor: string } }>('{ tasks { changesCursor } }', { token })).data.tasks
      .changesCursor;

  it('serves an account from sign-up to logout, and delivers exactly its own changes in order', async () => {
    const account = await signUp();
    const stranger = await signUp();
    const token = await logIn(account.email);
    const after = await cursorOf(token);
    const subscriber = await subscribe(platform().urls, token, { after });
    const eavesdropper = await subscribe(platform().urls, stranger.access_token);
    const atAnotherGateway = await subscribe(platform().urls.toReversed(), token, { after });

    // Create over REST and over GraphQL.
    const created = await rest<{ success: boolean; message: string; data: RestTask }>('POST', '/tasks', {
      token,
      body: { title: 'Write the report', category: 'work', dueDate: '2026-12-01T09:00:00+01:00' },
    });
    expect(created.status).toBe(201);
    const first = created.body.data;
    expect(first).toMatchObject({
      user_id: account.user.id,
      title: 'Write the report',
      description: null,
      completed: false,
      due_date: '2026-12-01T08:00:00.000Z',
      category: 'work',
      priority: 'medium',
    });
    const second = await graphql<{ createTask: { id: string; owner: { name: string } } }>(
      'mutation { createTask(input: {title: "Call the bank", priority: HIGH}) { id version priority owner { id name } } }',
      { token },
    );
    expect(second.errors).toBeUndefined();
    expect(second.data.createTask).toMatchObject({
      version: 1,
      priority: 'HIGH',
      owner: { id: account.user.id, name: 'Ada Lovelace' },
    });
    const secondId = second.data.createTask.id;

    // Update and complete.
    const patched = await rest<{ data: RestTask }>('PATCH', `/tasks/${first.id}`, {
      token,
      body: { priority: 'high' },
    });
    expect(patched.body.data).toMatchObject({ title: 'Write the report', priority: 'high' });
    expect(patched.body.data.updated_at > first.updated_at).toBe(true);
    const completed = await graphql<{ updateTask: { completed: boolean; version: number } }>(
      'mutation($id: ID!) { updateTask(id: $id, input: {completed: true}) { completed version } }',
      { token, variables: { id: first.id } },
    );
    expect(completed.data.updateTask).toEqual({ completed: true, version: 3 });

    // List and statistics, over both.
    const list = await rest<{ success: boolean; count: number; data: RestTask[] }>(
      'GET',
      '/tasks?sortBy=created_at&order=asc',
      { token },
    );
    expect(list.body).toMatchObject({ success: true, count: 2 });
    expect(list.body.data.map(({ id }) => id)).toEqual([first.id, secondId]);
    const pending = await rest<{ data: RestTask[] }>('GET', '/tasks?completed=false&priority=high', { token });
    expect(pending.body.data.map(({ id }) => id)).toEqual([secondId]);
    const statistics = { total: 2, completed: 1, pending: 1, completionPercentage: 50 };
    expect((await rest('GET', '/tasks/stats', { token })).body).toMatchObject({ success: true, data: statistics });
    const me = await graphql<{ me: unknown }>(
      '{ me { email taskStatistics { total completed pending completionPercentage } tasks(first: 1, orderBy: {field: CREATED_AT, direction: ASC}) { totalCount edges { node { title owner { email } } } } } }',
      { token },
    );
    expect(me.errors).toBeUndefined();
    expect(me.data.me).toEqual({
      email: account.email,
      taskStatistics: statistics,
      tasks: { totalCount: 2, edges: [{ node: { title: 'Write the report', owner: { email: account.email } } }] },
    });

    // No one else sees any of it.
    expect((await rest('GET', `/tasks/${first.id}`, { token: stranger.access_token })).status).toBe(404);
    expect((await rest('DELETE', `/tasks/${first.id}`, { token: stranger.access_token })).status).toBe(404);
    expect((await rest<{ count: number }>('GET', '/tasks', { token: stranger.access_token })).body.count).toBe(0);

    // Delete.
    const deleted = await rest('DELETE', `/tasks/${first.id}`, { token });
    expect(deleted.status).toBe(200);
    expect(Object.keys(deleted.body).toSorted()).toEqual(['message', 'success']);
    expect((await rest('GET', `/tasks/${first.id}`, { token })).status).toBe(404);
    expect(
      (
        await graphql<{ deleteTask: string }>('mutation($id: ID!) { deleteTask(id: $id) }', {
          token,
          variables: { id: secondId },
        })
      ).data.deleteTask,
    ).toBe(secondId);

    // The feed has exactly these changes, in this order.
    const expected = [
      { sequence: 1, kind: 'INSERT', task: { id: first.id, version: 1 }, previous: null },
      { sequence: 2, kind: 'INSERT', task: { id: secondId, version: 1 }, previous: null },
      { sequence: 3, kind: 'UPDATE', task: { id: first.id, version: 2 }, previous: { version: 1 } },
      {
        sequence: 4,
        kind: 'UPDATE',
        task: { id: first.id, version: 3, completed: true },
        previous: { completed: false },
      },
      { sequence: 5, kind: 'DELETE', task: { id: first.id, version: 3 }, previous: { version: 3 } },
      { sequence: 6, kind: 'DELETE', task: { id: secondId, version: 1 }, previous: { version: 1 } },
    ];
    for (const { changes } of [subscriber, atAnotherGateway]) {
      await eventually(() => expect(changes).toHaveLength(expected.length));
      expect(changes).toMatchObject(expected);
    }
    expect(eavesdropper.changes).toEqual([]);
    expect([...subscriber.failures, ...eavesdropper.failures, ...atAnotherGateway.failures]).toEqual([]);

    // A client that comes back with the cursor of the second change gets the rest.
    const resumed = await subscribe(platform().urls, token, { after: subscriber.changes[1]?.cursor });
    await eventually(() => expect(resumed.changes.map(({ sequence }) => sequence)).toEqual([3, 4, 5, 6]));

    // Logout ends this session everywhere within a second, and no other.
    expect((await rest('GET', '/auth/me', { token })).body).toEqual({
      userId: account.user.id,
      email: account.email,
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    expect((await rest('POST', '/auth/logout', { token })).status).toBe(200);
    for (const gateway of platform().urls)
      await eventually(async () => expect((await createRest(gateway)('GET', '/tasks', { token })).status).toBe(401), {
        timeoutMs: 1_000,
      });
    expect((await rest('GET', '/auth/me', { token: account.access_token })).status).toBe(200);
    await Promise.all([subscriber, eavesdropper, atAnotherGateway, resumed].map((each) => each.close()));
  });

  it('opens in a browser as a page, and has every file that the page names', async () => {
    const page = await fetch(`${url()}/`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    const files = [...(await page.text()).matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const answer = await fetch(new URL(file, url()));
      expect([file, answer.status, (await answer.arrayBuffer()).byteLength > 0]).toEqual([file, 200, true]);
    }
  });

  it('answers people without a token, and unknown ways in, in JSON', async () => {
    expect(await rest('GET', '/tasks')).toMatchObject({
      status: 401,
      body: { success: false, error: { code: 'UNAUTHENTICATED' } },
    });
    expect(await rest('GET', '/nowhere')).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
    expect(await rest('PUT', '/tasks')).toMatchObject({ status: 405, body: { error: { code: 'METHOD_NOT_ALLOWED' } } });
    const anonymous = await graphql('{ me { id } }');
    expect(anonymous.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  });
}
