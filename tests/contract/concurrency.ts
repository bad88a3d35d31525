import { newEmail, PASSWORD } from '../http.ts';
import { type Body, clientOf, type Platform, type Task } from './client.ts';

/** Promises that must hold under concurrent requests. */
export function describeConcurrency(platform: () => Platform) {
  const client = clientOf(platform);

  describe('at the same time', () => {
    it('fifty sign-ups with one address make one account and 49 conflicts', async () => {
      const email = newEmail();
      const signUp = async (_: unknown, index: number) => {
        const json = { email: index % 2 ? email : email.toUpperCase(), password: PASSWORD, name: 'Ada' };
        return (await client.call('POST', '/api/auth/signup', { json })).status;
      };
      const statuses = await Promise.all(Array.from({ length: 50 }, signUp));
      expect(statuses.toSorted((one, other) => one - other)).toEqual([201, ...Array<number>(49).fill(409)]);
    });

    it('a hundred changes to one task lose no field, and updated_at strictly increases', async () => {
      const { token } = await client.signUp();
      const { body } = await client.call('POST', '/full/api/tasks', { token, json: { title: 'Contended' } });
      const changes = Array.from({ length: 100 }, (_, index): Record<string, string> =>
        index % 4 === 3
          ? { dueDate: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString() }
          : { [['title', 'description', 'category'][index % 4] ?? '']: `value ${index}` },
      );
      const responses = await Promise.all(
        changes.map((json) => client.call('PATCH', `/full/api/tasks/${body.data.id}`, { token, json })),
      );

      expect(responses.map(({ status }) => status)).toEqual(Array(100).fill(200));
      // Each response has the state right after its change: ordered by version, each differs from the one before by that change.
      const tags = responses.map(({ headers }) => headers.get('etag'));
      expect(tags.toSorted()).toEqual(Array.from({ length: 100 }, (_, index) => `"${index + 2}"`).toSorted());
      let before: Task = body.data;
      for (let version = 2; version <= 101; version++) {
        const index = tags.indexOf(`"${version}"`);
        const { data } = responses[index]?.body ?? { data: before };
        const { dueDate: due_date = before.due_date, ...same } = changes[index] ?? {};
        expect(data).toEqual({ ...before, ...same, due_date, updated_at: data.updated_at });
        expect(data.updated_at > before.updated_at).toBe(true);
        before = data;
      }
      expect((await client.call('GET', `/full/api/tasks/${body.data.id}`, { token })).body.data).toEqual(before);
    });

    it('changes and deletions of one task return 200 or 404, and the task is deleted once', async () => {
      const { token } = await client.signUp();
      const { body } = await client.call('POST', '/full/api/tasks', { token, json: { title: 'Short-lived' } });
      const path = `/full/api/tasks/${body.data.id}`;
      const send = async (_: unknown, index: number) => {
        const method = index % 5 === 4 ? 'DELETE' : 'PATCH';
        return {
          method,
          ...(await client.call(method, path, { token, ...(method === 'PATCH' && { json: { completed: true } }) })),
        };
      };
      const responses = await Promise.all(Array.from({ length: 20 }, send));
      for (const { status } of responses) expect([200, 404]).toContain(status);
      expect(responses.filter(({ method, status }) => method === 'DELETE' && status === 200)).toHaveLength(1);
      expect((await client.call('GET', path, { token })).status).toBe(404);
    });

    it('a hundred creates make a hundred tasks with distinct ids', async () => {
      const { token } = await client.signUp();
      const create = () => client.call('POST', '/full/api/tasks', { token, json: { title: 'One of many' } });
      await Promise.all(Array.from({ length: 100 }, create));
      const { body } = await client.call<Body<Task[]>>('GET', '/full/api/tasks', { token });
      expect(body.count).toBe(100);
      expect(new Set(body.data.map(({ id }) => id)).size).toBe(100);
    });
  });
}
