import { eventually } from '@taskmesh/testing';
import { Client } from 'pg';
import { startTasks, type TestTasks } from './support/running-tasks.ts';

let service: TestTasks;
let blocker: Client;
beforeAll(async () => {
  service = await startTasks({ name: 'one_owner_waits' });
  blocker = new Client({ connectionString: service.database.url });
  await blocker.connect();
});
afterAll(async () => {
  await blocker.end();
  await service.stop();
});

const WAITING = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

it('serves other owners while the writes of one wait for a lock', async () => {
  const [ada, bob] = [service.user(), service.user()];
  await ada.create({ title: 'first' });
  await blocker.query('begin');
  await blocker.query('select from feeds where owner_id = $1 for update', [ada.id]);
  const writes = Promise.allSettled(Array.from({ length: 14 }, () => ada.create({ title: 'waits' })));
  await eventually(async () => expect((await service.database.query(WAITING)).length).toBeGreaterThanOrEqual(4));

  const { id } = await bob.create({ title: 'not delayed' });
  await bob.update(id, { completed: true });
  expect((await bob.ask('{ tasks { totalCount } }')).tasks.totalCount).toBe(1);
  expect(await service.database.query(WAITING)).toHaveLength(4);

  await blocker.query('rollback');
  // On a slow machine, the first ones may have waited for too long.
  const created = (await writes).filter(({ status }) => status === 'fulfilled').length;
  expect(created).toBeGreaterThan(0);
  expect((await ada.ask('{ tasks { totalCount } }')).tasks.totalCount).toBe(1 + created);
});
