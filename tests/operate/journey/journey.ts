import { eventually } from '@taskmesh/testing';
import { createGraphql, createRest, newAccount, readCursor, register } from '../../http.ts';
import { subscribe } from '../../feed/streams/protocols.ts';

type RestTask = Record<'id' | 'title' | 'updated_at', string>;

/** A user's journey through everything that the product offers. `urls`: its gateways. */
export function describeJourney(platform: () => { urls: string[] }) {
  const url = () => platform().urls[0] ?? '';
  const rest = createRest(url);
  const graphql = createGraphql(url);

  it('serves an account from sign-up to logout, and delivers exactly its own changes in order', async () => {
    const { email, password, id: userId, token: first } = await register(url(), newAccount());
    const stranger = await register(url());
    const login = await graphql<{ login: { accessToken: string } }>(
      'mutation($input: LoginInput!) { login(input: $input) { accessToken refreshToken expiresIn user { name } } }',
      { variables: { input: { email, password } } },
    );
    expect(login).toMatchObject({
      data: { login: { refreshToken: expect.any(String), expiresIn: 3600, user: { name: 'Ada' } } },
    });
    const token = login.data.login.accessToken;
    // The cursor belongs to the same snapshot as the list, so subscribing from it misses nothing.
    const after = await readCursor(url(), token);
    const subscriber = await subscribe(platform().urls, token, after);
    const eavesdropper = await subscribe(platform().urls, stranger.token);
    const atAnotherGateway = await subscribe(platform().urls.toReversed(), token, after);

    // Create over REST and over GraphQL.
    const created = await rest<{ data: RestTask }>('POST', '/tasks', {
      token,
      body: { title: 'Write the report', category: 'work', dueDate: '2026-12-01T09:00:00+01:00' },
    });
    expect(created.status).toBe(201);
    const task = created.body.data;
    expect(task).toMatchObject({
      ...{ user_id: userId, title: 'Write the report', description: null, completed: false },
      ...{ due_date: '2026-12-01T08:00:00.000Z', category: 'work', priority: 'medium' },
    });
    const second = await graphql<{ createTask: { id: string } }>(
      'mutation { createTask(input: {title: "Call the bank", priority: HIGH}) { id version priority owner { id name } } }',
      { token },
    );
    const other = second.data.createTask.id;
    expect(second).toEqual({
      data: { createTask: { id: other, version: 1, priority: 'HIGH', owner: { id: userId, name: 'Ada' } } },
    });
    await eventually(() => expect(subscriber.changes()).toHaveLength(2));
    const afterSecond = subscriber.cursor();

    // Update and complete.
    const patched = await rest<{ data: RestTask }>('PATCH', `/tasks/${task.id}`, { token, body: { priority: 'high' } });
    expect(patched.body.data).toMatchObject({ title: 'Write the report', priority: 'high' });
    expect(patched.body.data.updated_at > task.updated_at).toBe(true);
    const complete = 'mutation($id: ID!) { updateTask(id: $id, input: {completed: true}) { completed version } }';
    const completed = await graphql(complete, { token, variables: { id: task.id } });
    expect(completed).toEqual({ data: { updateTask: { completed: true, version: 3 } } });

    // List and statistics, over both.
    const idsOf = async (query: string) =>
      (await rest<{ data: RestTask[] }>('GET', `/tasks?${query}`, { token })).body.data.map(({ id }) => id);
    expect(await idsOf('sortBy=created_at&order=asc')).toEqual([task.id, other]);
    expect(await idsOf('completed=false&priority=high')).toEqual([other]);
    const statistics = { total: 2, completed: 1, pending: 1, completionPercentage: 50 };
    expect((await rest('GET', '/tasks/stats', { token })).body).toMatchObject({ success: true, data: statistics });
    const me = await graphql(
      '{ me { email taskStatistics { total completed pending completionPercentage } tasks(first: 1, orderBy: {field: CREATED_AT, direction: ASC}) { totalCount edges { node { title owner { email } } } } } }',
      { token },
    );
    const tasks = { totalCount: 2, edges: [{ node: { title: 'Write the report', owner: { email } } }] };
    expect(me).toEqual({ data: { me: { email, taskStatistics: statistics, tasks } } });

    // No one else sees any of it.
    expect((await rest('GET', `/tasks/${task.id}`, { token: stranger.token })).status).toBe(404);
    expect((await stranger.remove(task.id)).status).toBe(404);
    expect(await stranger.titles()).toEqual([]);

    // Delete.
    expect((await rest('DELETE', `/tasks/${task.id}`, { token })).status).toBe(200);
    expect((await rest('GET', `/tasks/${task.id}`, { token })).status).toBe(404);
    const deleted = await graphql('mutation($id: ID!) { deleteTask(id: $id) }', { token, variables: { id: other } });
    expect(deleted).toEqual({ data: { deleteTask: other } });

    // The feed has exactly these changes, in this order.
    const expected = [
      { sequence: 1, kind: 'INSERT', task: { id: task.id, version: 1 }, previous: null },
      { sequence: 2, kind: 'INSERT', task: { id: other, version: 1 }, previous: null },
      { sequence: 3, kind: 'UPDATE', task: { id: task.id, version: 2 }, previous: { version: 1 } },
      { sequence: 4, kind: 'UPDATE', task: { id: task.id, version: 3 }, previous: { version: 2 } },
      { sequence: 5, kind: 'DELETE', task: { id: task.id, version: 3 }, previous: { version: 3 } },
      { sequence: 6, kind: 'DELETE', task: { id: other, version: 1 }, previous: { version: 1 } },
    ];
    const resumed = await subscribe(platform().urls, token, afterSecond);
    await eventually(() => expect(subscriber.changes()).toMatchObject(expected));
    await eventually(() => expect(atAnotherGateway.changes()).toMatchObject(expected));
    await eventually(() => expect(resumed.changes()).toMatchObject(expected.slice(2)));
    expect(eavesdropper.changes()).toEqual([]);
    const streams = [subscriber, eavesdropper, atAnotherGateway, resumed];
    expect(streams.flatMap(({ failures }) => failures)).toEqual([]);
    await Promise.all(streams.map((stream) => stream.close()));

    // Logout ends this session everywhere within a second, and no other.
    expect((await rest('GET', '/auth/me', { token })).body).toMatchObject({ userId, email });
    expect((await rest('POST', '/auth/logout', { token })).status).toBe(200);
    for (const gateway of platform().urls) {
      const list = async () => (await createRest(gateway)('GET', '/tasks', { token })).status;
      await eventually(async () => expect(await list()).toBe(401), { timeoutMs: 1_000 });
    }
    expect((await rest('GET', '/auth/me', { token: first })).status).toBe(200);
  });

  it('serves a page to browsers, with every file that the page names', async () => {
    const page = await fetch(`${url()}/`, { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    const files = [...(await page.text()).matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const response = await fetch(new URL(file, url()));
      expect([file, response.status, (await response.arrayBuffer()).byteLength > 0]).toEqual([file, 200, true]);
    }
  });
}
