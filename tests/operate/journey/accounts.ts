import { eventually } from '@taskmesh/testing';
import { openSocket } from '../../feed/raw-socket.ts';
import { subscribe } from '../../feed/streams/protocols.ts';
import { createRest, logIn, readCursor, register } from '../../http.ts';

/** What users do with their own accounts at one gateway, and its effect at all others. */
export function describeOwnAccount(platform: () => { urls: string[] }) {
  const url = () => platform().urls[0] ?? '';
  const rest = createRest(url);
  const last = () => platform().urls.at(-1) ?? '';

  const statusesOf = (token: string) =>
    Promise.all(platform().urls.map(async (each) => (await createRest(each)('GET', '/auth/me', { token })).status));
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
    it('has tokens for programs, which read or write at every gateway, follow changes, and end everywhere', async () => {
      const { token } = await register(url());
      const [read, write] = [await makeToken(token, 'read'), await makeToken(token, 'write')];
      const subscriber = await subscribe(platform().urls, read.token, await readCursor(last(), read.token));
      const create = (by: string) =>
        createRest(last())('POST', '/tasks', { token: by, body: { title: 'By a program' } });
      expect((await create(read.token)).status).toBe(403);
      expect((await create(write.token)).status).toBe(201);
      await eventually(() => expect(subscriber.changes()).toHaveLength(1));
      await subscriber.close();
      for (const { id, token: ended } of [read, write]) {
        expect(await statusesOf(ended)).toEqual(everywhere(200));
        expect((await rest('DELETE', `/auth/tokens/${id}`, { token })).status).toBe(200);
        await refusedEverywhere(ended);
      }
    });

    it('is deleted with everything it owns: all tokens are refused, streams end, and its address is free', async () => {
      const [ada, bob] = [await register(url()), await register(url())];
      const [other, program] = [(await logIn(url(), ada)).token, await makeToken(ada.token, 'write')];
      for (const owner of [ada, bob]) await owner.create('Of one of both');
      const socket = await openSocket(`${last()}/graphql`, { protocol: 'graphql-transport-ws' });
      socket.send({ type: 'connection_init', payload: { authorization: `Bearer ${other}` } });
      await socket.frame(({ type }: { type: string }) => type === 'connection_ack');
      const remove = async (token: string, password: string) =>
        (await rest('DELETE', '/auth/profile', { token, body: { password } })).status;
      expect(await remove(program.token, ada.password)).toBe(403);
      expect(await remove(ada.token, 'wrong')).toBe(400);
      expect(await statusesOf(ada.token)).toEqual(everywhere(200));
      expect(await remove(ada.token, ada.password)).toBe(200);
      for (const ended of [ada.token, other, program.token]) await refusedEverywhere(ended);
      expect((await socket.closing()).code).toBe(4403);
      await expect(logIn(url(), ada)).rejects.toThrow('401');
      const again = await register(url(), ada);
      expect(again.id).not.toBe(ada.id);
      expect([await again.titles(), await bob.titles()]).toEqual([[], ['Of one of both']]);
    });
  });
}
