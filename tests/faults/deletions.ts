import { databaseUrl } from '@taskmesh/local';
import { eventually } from '@taskmesh/testing';
import { Pool } from 'pg';
import { createRest, newAccount, type Owner, register } from '../http.ts';
import type { RunningStack } from '../stack.ts';
import { readPublished } from './published.ts';

/** Several batches of a deletion, so that a process can be killed between two of them. */
const TASKS = 2_000;
const GONE_WITHIN_MS = 60_000;
const TABLES_OF_OWNER = ['changes', 'idempotency_keys', 'dead_letters', 'closed_owners'];

type Person = Pick<Owner, 'id' | 'email' | 'token'>;

/** Deletes accounts while processes are killed. `kill` kills a process, and waits until it works again. */
export async function createDeletions({ stack }: RunningStack, kill: (target: string) => Promise<void>) {
  // A pool loses its connections when the server is killed, and opens new ones.
  const connect = (database: string) =>
    new Pool({ connectionString: databaseUrl(stack.servers.postgres, database), max: 2 }).on('error', () => undefined);
  const [tasks, auth] = [connect('taskmesh_tasks'), connect('taskmesh_auth')];
  const published = await readPublished(stack);
  const rest = createRest(() => stack.urls[0] ?? '');

  async function signUp(): Promise<Person> {
    const person = await register(stack.urls[0] ?? '');
    expect((await create(person)).status).toBe(201);
    return person;
  }

  const create = ({ token }: Person) => rest('POST', '/tasks', { token, body: { title: 'by REST' } });

  /** Inserts tasks without publishing changes, as if they had always existed. */
  const fill = async ({ id }: Person) => {
    await tasks.query(
      `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
       select gen_random_uuid(), $1, 'task ' || n, false, 'low', now() + n * interval '1 millisecond', now() from generate_series(2, $2::int) n`,
      [id, TASKS],
    );
    await tasks.query('update feeds set tasks = $2 where owner_id = $1', [id, TASKS]);
  };

  const tasksOf = async ({ id }: Person) =>
    Number((await tasks.query('select count(*) from tasks where user_id = $1', [id])).rows[0]?.count);

  const leftOf = async (person: Person): Promise<string[]> => {
    const left = (await tasksOf(person)) > 0 ? ['tasks'] : [];
    for (const table of TABLES_OF_OWNER)
      if ((await tasks.query(`select 1 from ${table} where owner_id = $1 limit 1`, [person.id])).rows.length > 0)
        left.push(table);
    const { rows } = await auth.query('select 1 from accounts where id = $1', [person.id]);
    return rows.length > 0 ? [...left, 'accounts'] : left;
  };

  /** Expects one DELETE per task, in order; the event log may contain it more than once. */
  function expectDelivered({ id }: Person, deletes: number): void {
    const changes = published.of(id);
    const deleted = changes.filter(({ kind }) => kind === 'DELETE');
    expect(changes.map(({ sequence }) => sequence)).toEqual(Array.from({ length: deletes + 1 }, (_, n) => n + 1));
    expect(new Set(deleted.map(({ task }) => task.id)).size).toBe(deletes);
    const times = deleted.map(({ task }) => task.createdAt);
    expect(times).toEqual(times.toSorted());
  }

  return {
    /**
     * Deletes an account, and kills these processes meanwhile. The returned function expects that it disappears with everything
     * it owned, and that each deletion was reported once and in order.
     */
    async during(victims: string[]): Promise<() => Promise<void>> {
      const [ada, bob] = [await signUp(), await signUp()];
      await fill(ada);
      const body = { password: newAccount().password };
      expect((await rest('DELETE', '/auth/profile', { token: ada.token, body })).status).toBe(200);
      for (const target of victims) {
        if (target === 'tasks') await eventually(async () => expect(await tasksOf(ada)).toBeLessThan(TASKS), { timeoutMs: 20_000 }); // prettier-ignore
        await kill(target);
      }
      return async () => {
        await eventually(async () => expect(await leftOf(ada)).toEqual([]), { timeoutMs: GONE_WITHIN_MS });
        await eventually(() => expectDelivered(ada, TASKS), { timeoutMs: 20_000 });
        console.info(`${victims.join(' ')}: delivered again: ${published.timesAgain(ada.id)}`);
        await eventually(async () => expect((await create(bob)).status).toBe(201));
        expect(await tasksOf(bob)).toBe(2);
        await eventually(() => expect(published.of(bob.id).map(({ sequence }) => sequence)).toEqual([1, 2]));
        expect((await create(ada)).status).toBe(401);
      };
    },
    close: () => Promise.all([published.close(), tasks.end(), auth.end()]),
  };
}
