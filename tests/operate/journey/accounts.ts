import { eventually } from '@taskmesh/testing';
import { randomUUID } from 'node:crypto';
import { createGraphql, createRest } from '../../support/http.ts';
import { subscribe } from '../../support/subscriber.ts';
import { WebSocket } from 'ws';

const PASSWORD = 'correct horse battery staple';
const NEW_PASSWORD = 'another horse battery staple';

interface Shown {
  id: string;
  current: boolean;
  client: string | null;
}

/** Subscribes with a socket of its own; `closed` resolves with the code that ends it. */
async function openSocket(url: string, token: string): Promise<{ closed: Promise<number> }> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws');
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  socket.on('open', () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } })),
  );
  await new Promise<void>((resolve) => socket.once('message', () => resolve()));
  const query = 'subscription { taskChanges { sequence } }';
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  return { closed };
}

/** What people do with their own accounts, at one gateway, and what all the others make of it. */
export function describeOwnAccount(platform: () => { urls: string[] }) {
  const rest: ReturnType<typeof createRest> = (...args) => createRest(platform().urls[0] ?? '')(...args);
  const last = () => platform().urls.at(-1) ?? '';

  const signUp = async () => {
    const email = `${randomUUID()}@example.com`;
    const body = { email, password: PASSWORD, name: 'Ada' };
    const { body: session } = await rest<{ access_token: string }>('POST', '/auth/signup', { body });
    return { email, token: session.access_token };
  };
  const logIn = async (email: string, password = PASSWORD) =>
    (await rest<{ access_token: string }>('POST', '/auth/login', { body: { email, password } })).body.access_token;
  const statusesOf = (token: string) =>
    Promise.all(platform().urls.map(async (url) => (await createRest(url)('GET', '/auth/me', { token })).status));
  const everywhere = (status: number) => platform().urls.map(() => status);
  const refusedEverywhere = async (token: string) => {
    await eventually(async () => expect(await statusesOf(token)).toEqual(everywhere(401)), { timeoutMs: 1_000 });
  };
  const makeToken = async (token: string, scope: 'read' | 'write') => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const body = { name: 'A program', scope, expires_at: expiresAt };
    return (await rest<{ id: string; token: string }>('POST', '/auth/tokens', { token, body })).body;
  };

  describe('an account of one’s own', () => {
    it('shows its sessions, and one that is ended counts no more at any gateway within a second', async () => {
      const { email, token } = await signUp();
      const other = await logIn(email);
      expect(await statusesOf(other)).toEqual(everywhere(200));
      const { sessions } = (await rest<{ sessions: Shown[] }>('GET', '/auth/sessions', { token })).body;
      expect(sessions.map(({ current }) => current)).toEqual([false, true]);
      expect((await rest('DELETE', `/auth/sessions/${sessions[0]?.id}`, { token })).status).toBe(200);
      await refusedEverywhere(other);
      expect(await statusesOf(token)).toEqual(everywhere(200));
    });

    it('ends its other sessions everywhere when the password changes', async () => {
      const { email, token } = await signUp();
      const other = await logIn(email);
      expect(await statusesOf(other)).toEqual(everywhere(200));
      const body = { current_password: PASSWORD, password: NEW_PASSWORD };
      expect((await rest('POST', '/auth/change-password', { token, body })).status).toBe(200);
      await refusedEverywhere(other);
      expect(await statusesOf(token)).toEqual(everywhere(200));
      expect(await statusesOf(await logIn(email, NEW_PASSWORD))).toEqual(everywhere(200));
    });

    it('has tokens for programs, which read or write at every gateway, follow changes, and end everywhere', async () => {
      const { token } = await signUp();
      const [read, write] = [await makeToken(token, 'read'), await makeToken(token, 'write')];
      const page = await createGraphql(last())<{ tasks: { changesCursor: string } }>('{ tasks { changesCursor } }', {
        token: read.token,
      });
      const subscriber = await subscribe(platform().urls, read.token, { after: page.data.tasks.changesCursor });
      const create = (by: string, url = last()) =>
        createRest(url)('POST', '/tasks', { token: by, body: { title: 'By a program' } });
      expect((await create(read.token)).status).toBe(403);
      expect((await create(write.token)).status).toBe(201);
      await eventually(() => expect(subscriber.changes).toHaveLength(1));
      await subscriber.close();
      for (const { id, token: ended } of [read, write]) {
        expect(await statusesOf(ended)).toEqual(everywhere(200));
        expect((await rest('DELETE', `/auth/tokens/${id}`, { token })).status).toBe(200);
        await refusedEverywhere(ended);
      }
    });

    it('is deleted with everything it owns: no token counts any more, streams end, and its address is free', async () => {
      const { email, token } = await signUp();
      const bob = await signUp();
      const [other, program] = [await logIn(email), await makeToken(token, 'write')];
      for (const by of [token, bob.token])
        await rest('POST', '/tasks', { token: by, body: { title: 'Of one of both' } });
      const before = (await rest<{ userId: string }>('GET', '/auth/me', { token })).body.userId;
      const { closed } = await openSocket(last(), other);
      expect(
        (await rest('DELETE', '/auth/profile', { token: program.token, body: { password: PASSWORD } })).status,
      ).toBe(403);
      expect((await rest('DELETE', '/auth/profile', { token, body: { password: 'wrong' } })).status).toBe(400);
      expect(await statusesOf(token)).toEqual(everywhere(200));
      expect((await rest('DELETE', '/auth/profile', { token, body: { password: PASSWORD } })).status).toBe(200);
      for (const ended of [token, other, program.token]) await refusedEverywhere(ended);
      expect(await closed).toBe(4403);
      expect((await rest('POST', '/auth/login', { body: { email, password: PASSWORD } })).status).toBe(401);
      const body = { email, password: PASSWORD, name: 'Ada' };
      const again = (await rest<{ access_token: string; user: { id: string } }>('POST', '/auth/signup', { body })).body;
      expect(again.user.id).not.toBe(before);
      const listOf = async (by: string) => (await rest<{ count: number }>('GET', '/tasks', { token: by })).body.count;
      expect([await listOf(again.access_token), await listOf(bob.token)]).toEqual([0, 1]);
    });
  });
}
