import { GRAPH_FIELDS, TASK_FIELDS, type TaskRow, createTaskInput, updateTaskInput } from '@taskmesh/contracts';
import { readTypeDefs } from '@taskmesh/internal-api';
import { createRestoredDatabase } from '@taskmesh/testing';
import { isNonNullType, buildASTSchema, getNamedType, isInputObjectType, isObjectType } from 'graphql';
import { INPUT_FIELDS, toTask } from '../src/tasks/task-row.ts';
import { type GraphqlResult, codeOf, startTasks } from './support/running-tasks.ts';

/*
 * A new field of a task must be added everywhere: each test names a place where it may be missing. Code that is derived from
 * the list in libs/contracts, or checked by the compiler, needs no test.
 */

const schema = buildASTSchema(readTypeDefs(`${import.meta.dirname}/../src`), { assumeValidSDL: true });

function fieldsOf(name: string) {
  const type = schema.getType(name);
  return isObjectType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : [];
}

const namesIn = (type: string) => fieldsOf(type).map(({ name }) => name);

const service = await startTasks({ name: 'fields' });

describe('every field of a task that libs/contracts/src/events/task-fields.ts lists', () => {
  it('is in the type Task of tasks.graphql, where the owner is `owner`', () =>
    expect(namesIn('Task').toSorted()).toEqual([...GRAPH_FIELDS, 'owner'].toSorted()));

  it('may be null in tasks.graphql where it may be null', () => {
    const nullable = fieldsOf('Task').filter(({ type }) => !isNonNullType(type));
    const listed = Object.entries(TASK_FIELDS).filter(([, { isNullable }]) => isNullable);
    expect(nullable.map(({ name }) => name).toSorted()).toEqual(listed.map(([name]) => name).toSorted());
  });

  it('is a column that a migration has created', async () => {
    const made = await service.query(`
      select attname as column, format_type(atttypid, atttypmod) as type, not attnotnull as "isNullable"
      from pg_attribute where attrelid = 'tasks'::regclass and attnum > 0 and not attisdropped`);
    const typeOf = (type: string) => type.replace('timestamptz(3)', 'timestamp(3) with time zone');
    const listed = Object.values(TASK_FIELDS).map((field) => ({ ...field, type: typeOf(field.type) }));
    expect(made).toHaveLength(listed.length);
    expect(made).toEqual(expect.arrayContaining(listed));
  });

  it('has a value in a row that the first release wrote (toTask in task-row.ts)', () => {
    // The row as 0.1.0 wrote it into the log and with idempotency keys. It never changes.
    const image = `{"id":"01890000-0000-7000-8000-0000000000bb","user_id":"01890000-0000-7000-8000-0000000000aa",
      "title":"old","description":null,"completed":false,"due_date":null,"category":null,"priority":"low",
      "created_at":"2026-11-20T10:00:00+00:00","updated_at":"2026-11-20T10:00:00+00:00","version":1}`;
    const task = Object.entries(toTask(JSON.parse(image) as TaskRow));
    expect(task.filter(([, value]) => value !== undefined).map(([name]) => name)).toEqual(Object.keys(TASK_FIELDS));
  });
});

/** Values that differ from every default, by GraphQL type. */
const SAMPLES: Record<string, (name: string) => unknown> = {
  String: (name) => `a ${name}`,
  Boolean: () => true,
  DateTime: () => '2031-02-03T04:05:06.789Z',
  TaskPriority: () => 'HIGH',
};

describe('every field that callers set', () => {
  const listed = Object.keys(createTaskInput.shape).toSorted();
  const sampleOf = (name: string): unknown => {
    const type = fieldsOf('CreateTaskInput').find((field) => field.name === name)?.type;
    const sample = SAMPLES[String(type && getNamedType(type))];
    if (!sample) throw new Error(`this test has no sample for ${name} of CreateTaskInput`);
    return sample(name);
  };
  const all = () => Object.fromEntries(INPUT_FIELDS.map((name) => [name, sampleOf(name)]));
  const stored = async (id: string) =>
    (await service.query('select row_to_json(t) as row from tasks t where id = $1', [id]))[0]?.row as TaskRow;
  /** The task's fields that callers set. */
  const givenOf = (task: GraphqlResult) => Object.fromEntries(INPUT_FIELDS.map((name) => [name, task[name]]));
  const inGraph = (task: GraphqlResult) => ({ ...givenOf(task), priority: task.priority.toUpperCase() });

  it.each([
    ['CreateTaskInput of tasks.graphql', namesIn('CreateTaskInput')],
    ['UpdateTaskInput of tasks.graphql', namesIn('UpdateTaskInput')],
    ['updateTaskInput of libs/contracts', Object.keys(updateTaskInput.shape)],
  ])('is in %s, as in createTaskInput of libs/contracts', (_place, there) => expect(there.toSorted()).toEqual(listed));

  it('is returned by a new task, by a retry with the same key, and by the log', async () => {
    const user = service.user();
    const created = await user.create(all(), 'key');
    expect(givenOf(created)).toEqual(all());
    expect(await user.create(all(), 'key')).toEqual(created);
    expect(inGraph(toTask(await stored(created.id)))).toEqual(all());
    await service.delivered();
    const published = service.published.findLast(({ ownerId }) => ownerId === user.id);
    expect(inGraph(published?.task)).toEqual(all());
    const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 1);
    expect(changes[0]?.task).toEqual(published?.task);
  });

  it.each(INPUT_FIELDS)('changes the hash of an input with an Idempotency-Key: %s', async (name) => {
    const user = service.user();
    const least = { title: 'least' };
    await user.create(least, 'key');
    const operation = 'mutation ($input: CreateTaskInput!) { createTask(input: $input, idempotencyKey: "key") { id } }';
    expect(codeOf(await user.send(operation, { input: { ...least, [name]: sampleOf(name) } }))).toBe('BAD_USER_INPUT');
  });

  it.each(INPUT_FIELDS)('is the only field that its update changes: %s', async (name) => {
    const user = service.user();
    const before = await user.create({ title: 'before' });
    const changed = await user.update(before.id, { [name]: sampleOf(name) });
    expect(givenOf(changed)).toEqual({ ...givenOf(before), [name]: sampleOf(name) });
    if (!TASK_FIELDS[name].isNullable) return;
    expect(givenOf(await user.update(before.id, { [name]: null }))).toEqual(givenOf(before));
  });

  it('is imported from a dump of another system', async () => {
    const row = await stored((await service.user().create(all())).id);
    const columns = Object.values(TASK_FIELDS).map(({ column, type }) => `${column} ${type}`);
    const dump = await createRestoredDatabase(
      `create schema restored; create table restored.tasks (${columns.join()})`,
    );
    const insert = 'insert into restored.tasks select * from json_populate_record(null::restored.tasks, $1)';
    await dump.query(insert, [JSON.stringify(row)]);
    const result = await service.tasks.restore.importDatabase(dump.name);
    expect(result).toEqual({ complete: true, rows: { tasks: 1 }, dropped: [] });
    expect(await dump.query('select row_to_json(t) as row from tasks t')).toEqual([{ row }]);
  });
});
