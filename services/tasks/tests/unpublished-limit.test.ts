import { createAccountLog } from './support/account-log.ts';
import { choosyLog, HASTE, refusal, usersOf } from './support/relay.ts';
import { codeOf, startTasks, type TestUser } from './support/running-tasks.ts';

const MAX_UNPUBLISHED = 10_000;

let isOut = true;

const eventLog = choosyLog(() => (isOut ? refusal('LEADER_NOT_AVAILABLE') : undefined));
const log = createAccountLog();
const service = await startTasks({ name: 'unpublished_limit', eventLog, relay: HASTE, accounts: log.accounts });
const [busy, leaving, other] = usersOf(3, service).flat() as [TestUser, TestUser, TestUser];
const { id } = await busy.create({ title: 'first' }, 'first');
await leaving.create({ title: 'of a deleted account' });
// As if the owners had continued to write during the outage, up to one change below the limit.
await service.database.query(
  `insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
     select part, owner_id, n, kind, task, previous, occurred_at from changes, generate_series(2, ${MAX_UNPUBLISHED - 1}) n`,
);
await service.database.query(`update feeds set sequence = ${MAX_UNPUBLISHED - 1}`);

const unpublished = async () =>
  (await service.database.query('select from changes where owner_id = $1 and published_at is null', [busy.id])).length;
const tasksLeft = () => service.database.query('select from tasks where user_id = $1', [leaving.id]);

it('rejects writes of an owner with too many unpublished changes, without an effect, until they are published', async () => {
  await busy.update(id, { title: 'the last that fits' });
  const writes = [
    'mutation { createTask(input: { title: "one more" }) { id } }',
    'mutation { createTask(input: { title: "one more" }, idempotencyKey: "more") { id } }',
    `mutation { updateTask(id: "${id}", input: { completed: true }) { id } }`,
    `mutation { updateTask(id: "${id}", input: { completed: true }, ifVersion: 2) { id } }`,
    `mutation { deleteTask(id: "${id}") }`,
  ];
  for (const write of writes) {
    const { errors } = await busy.send(write);
    expect(errors?.[0]).toMatchObject({
      message: 'Too many of your changes wait for the change feed. Try again later.',
      extensions: { code: 'SERVICE_UNAVAILABLE' },
    });
  }
  expect(await unpublished()).toBe(MAX_UNPUBLISHED);
  expect(codeOf(await busy.send(`mutation { updateTask(id: "${id}", input: {}, ifVersion: 1) { id } }`))).toBe(
    'PRECONDITION_FAILED',
  );
  expect(await busy.create({ title: 'first' }, 'first')).toMatchObject({ id });
  await other.create({ title: 'of another owner' });

  await leaving.create({ title: 'the last that fits' });
  log.delete(leaving.id);
  await service.tasks.processDeletions();
  expect(await tasksLeft()).toHaveLength(2);

  isOut = false;
  await service.delivered();
  await service.tasks.processDeletions();
  expect(await tasksLeft()).toEqual([]);
  for (const write of writes.toSpliced(2, 1)) expect(codeOf(await busy.send(write))).toBe(undefined);
}, 60_000);
