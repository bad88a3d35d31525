import { DEMO_ACCOUNT, seed } from '@taskmesh/local';
import { createRest } from '../../http.ts';

/** The demo data, as somebody who logs in to look at them finds them. */
export function describeSeed(platform: () => { urls: string[] }) {
  const url = () => platform().urls[0] ?? '';

  async function tasks() {
    const rest = createRest(url());
    const { email, password } = DEMO_ACCOUNT;
    const login = await rest<{ access_token: string }>('POST', '/auth/login', { body: { email, password } });
    const { body } = await rest<{ data: { title: string; category: string; due_date: string | null }[] }>(
      'GET',
      '/tasks',
      { token: login.body.access_token },
    );
    return body.data;
  }

  describe('the demo data', () => {
    it('are an account with a list', async () => {
      const made = await seed(url());
      const listed = await tasks();
      expect(made).toBe(listed.length);
      expect(new Set(listed.map(({ category }) => category))).toEqual(new Set(['work', 'home', 'garden']));
      expect(listed.map(({ due_date: due }) => due === null)).toEqual(expect.arrayContaining([true, false]));
    });

    it('are made once, and left as people made them', async () => {
      const before = await tasks();
      expect(await seed(url())).toBe(0);
      expect(await tasks()).toEqual(before);
    });

    it('need a Taskmesh', async () => {
      await expect(seed('http://127.0.0.1:1')).rejects.toThrow(
        'There is no Taskmesh at http://127.0.0.1:1. Start one, or name its address',
      );
    });
  });
}
