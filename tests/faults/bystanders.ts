import type { Stack } from '@taskmesh/local';
import { createRest } from '../http.ts';
import { queryStore } from '../stack.ts';
import { signIn } from './guest.ts';

/** Queries for every row of the bystanders, without the times at which they were last seen. */
const KEPT: Record<'auth' | 'tasks', string[]> = {
  auth: ['select a::text from accounts a where id = any($1) order by id'],
  tasks: [
    'select t::text from tasks t where user_id = any($1) order by id',
    'select owner_id, sequence, ends_at from feeds where owner_id = any($1) order by owner_id',
  ],
};

/** Creates accounts with some tasks that then do nothing, so that none of their rows may change. */
export async function createBystanders(stack: Stack, name: string) {
  const [url = ''] = stack.urls;
  const ids: string[] = [];
  for (let number = 0; number < 2; number++) {
    const own = `${name}-${number}`;
    const { accessToken: token, user } = await signIn(url, { email: `${own}@example.com`, name: own });
    for (let task = 0; task < 5; task++)
      await createRest(url)('POST', '/tasks', { token, body: { title: `${own} ${task}` } });
    ids.push(user.id);
  }
  return {
    /** Reads all rows of the bystanders. */
    async rows() {
      const found: unknown[] = [];
      for (const [store, statements] of Object.entries(KEPT) as ['auth' | 'tasks', string[]][])
        for (const text of statements) found.push(await queryStore(stack, store, text, [ids]));
      return found;
    },
  };
}
