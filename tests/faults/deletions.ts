import { databaseUrl } from '@taskmesh/local';
import { createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createRest, newAccount, type Owner, register } from '../http.ts';
import { createBystanders } from './bystanders.ts';
import type { RunningStack } from '../stack.ts';
import { contradictingGuests, hostGuests } from './guests.ts';
import { inject } from './inject.ts';
import { readPublished, type Published } from './published.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_124);
/** Several batches of a deletion, so that a process can be killed between two of them. */
const TASKS = 2_000;
const GONE_WITHIN_MS = 60_000;
const TABLES_OF_OWNER = ['changes', 'idempotency_keys', 'dead_letters', 'closed_owners'];

type Person = Pick<Owner, 'id' | 'email' | 'token'>;

export function describeDeletions(faulty: RunningStack): void {
  describe('an account that is deleted while processes are killed', () => {
    const random = createRandom(SEED);
    let tasks: Pool;
    let auth: Pool;
    let published: Published;

    beforeAll(async () => {
      const { postgres } = faulty.stack.servers;
      // The pool loses its connections when the server is killed, and opens new ones.
      const connect = (database: string) =>
        new Pool({ connectionString: databaseUrl(postgres, database), max: 2 }).on('error', () => undefined);
      [tasks, auth] = [connect('taskmesh_tasks'), connect('taskmesh_auth')];
      published = await readPublished(faulty.stack);
    }, 60_000);
    afterAll(async () => {
      await published.close();
      await Promise.all([tasks.end(), auth.end()]);
    });

    const rest = createRest(() => faulty.stack.urls[0] ?? '');

    async function signUp(): Promise<Person> {
      const person = await register(faulty.stack.urls[0] ?? '');
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

    it.each([
      [['tasks', 'tasks', 'tasks']], // again and again
      [['auth', 'tasks']], // auth right after its response
      [['kafka', 'postgres']],
    ])(
      'disappears with everything it owned, and each deletion is reported once and in order: %j',
      async (victims) => {
        const [ada, bob] = [await signUp(), await signUp()];
        await fill(ada);
        expect(
          (await rest('DELETE', '/auth/profile', { token: ada.token, body: { password: newAccount().password } }))
            .status,
        ).toBe(200);
        for (const target of victims) {
          if (target === 'tasks') await eventually(async () => expect(await tasksOf(ada)).toBeLessThan(TASKS), { timeoutMs: 20_000 }); // prettier-ignore
          await inject(faulty, { target, kind: 'kill', forMs: 0 });
          await sleep(random() * 300);
        }
        await eventually(async () => expect(await leftOf(ada)).toEqual([]), { timeoutMs: GONE_WITHIN_MS });
        await eventually(() => expectDelivered(ada, TASKS), { timeoutMs: 20_000 });
        console.info(`seed ${SEED}, ${victims.join(' ')}: delivered again: ${published.timesAgain(ada.id)}`);
        await eventually(async () => expect((await create(bob)).status).toBe(201));
        expect(await tasksOf(bob)).toBe(2);
        await eventually(() => expect(published.of(bob.id).map(({ sequence }) => sequence)).toEqual([1, 2]));
        expect((await create(ada)).status).toBe(401);
      },
      180_000,
    );

    it('is deleted once, leaves nothing in any store, and does not affect others, however often the deletion is retried', async () => {
      const { stack } = faulty;
      const options = { ...faulty, stack, published, mark: `guest-${SEED}`, random };
      const bystanders = await createBystanders(stack, `bystander-${SEED}`);
      const before = await bystanders.rows();
      const guests = hostGuests(options);
      await sleep(2_000);
      await inject(faulty, { target: 'auth', kind: 'kill', forMs: 0 });
      const gone = await guests.stop();
      expect(await contradictingGuests(gone, [], options)).toEqual([]);
      expect(await bystanders.rows()).toEqual(before);
      const lost = gone.reduce((sum, { lostResponses }) => sum + lostResponses, 0);
      console.info(`seed ${SEED}: ${gone.length} accounts deleted, ${lost} answers of that lost`);
    }, 240_000);
  });
}
