import { codeOf, createTestClock, FIELDS, issuesOf, startTasks, type TestTasks } from './support/running-tasks.ts';

const clock = createTestClock();
let service: TestTasks;

beforeAll(async () => {
  service = await startTasks({ name: 'write', clock });
});
afterAll(() => service.stop());

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const CREATE = `mutation ($input: CreateTaskInput!) { createTask(input: $input) { ${FIELDS} } }`;
const UPDATE = `mutation ($id: ID!, $input: UpdateTaskInput!) { updateTask(id: $id, input: $input) { ${FIELDS} } }`;

describe('creating a task', () => {
  it('stores what was sent, and gives it back whole', async () => {
    const user = service.user();
    clock.set('2026-11-20T10:00:00.120Z');
    const input = {
      title: ' Buy 🥛 ',
      description: 'two\nlines',
      dueDate: '2026-12-01T12:30:00.5+02:00',
      category: '',
      priority: 'HIGH',
      completed: true,
    };
    const created = await user.create(input);
    expect(created).toEqual({
      ...input,
      id: expect.stringMatching(UUID_V7),
      dueDate: '2026-12-01T10:30:00.500Z',
      createdAt: '2026-11-20T10:00:00.120Z',
      updatedAt: '2026-11-20T10:00:00.120Z',
      version: 1,
      owner: { id: user.id },
    });
    expect((await user.ask(`query ($id: ID!) { task(id: $id) { ${FIELDS} } }`, { id: created.id })).task).toEqual(
      created,
    );
  });

  it('fills in what was left out or null', async () => {
    const user = service.user();
    const bare = { description: null, dueDate: null, category: null, priority: 'MEDIUM', completed: false };
    expect(await user.create({ title: 'bare' })).toMatchObject(bare);
    expect(await user.create({ title: 'bare', description: null, dueDate: null, category: null })).toMatchObject(bare);
  });

  it.each(['0001-01-01T00:00:00.000Z', '0099-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'])(
    'keeps a due date of %s as it is',
    async (dueDate) => {
      const user = service.user();
      const { id } = await user.create({ title: 'old or new', dueDate });
      expect((await user.ask('query ($id: ID!) { task(id: $id) { dueDate } }', { id })).task).toEqual({ dueDate });
      await service.delivered();
      expect(service.published.findLast(({ ownerId }) => ownerId === user.id)?.task.dueDate).toBe(dueDate);
    },
  );

  it('tells every wrong field at once, and stores nothing', async () => {
    const user = service.user();
    const result = await user.send(CREATE, {
      input: {
        title: 'ab',
        description: 'x'.repeat(2_001),
        category: 'a\0b',
        dueDate: '2026-02-30T00:00:00Z',
        completed: null,
        priority: null,
      },
    });
    expect(codeOf(result)).toBe('BAD_USER_INPUT');
    expect(issuesOf(result)).toEqual(
      ['title', 'description', 'dueDate', 'category', 'priority', 'completed'].map((path) => ({
        path,
        message: expect.stringContaining(path),
      })),
    );
    expect((await user.ask('{ taskStatistics { total } }')).taskStatistics.total).toBe(0);
  });

  it('counts characters, not their parts', async () => {
    const user = service.user();
    expect((await user.create({ title: '😀'.repeat(255) })).title).toBe('😀'.repeat(255));
    expect(codeOf(await user.send(CREATE, { input: { title: '😀a' } }))).toBe('BAD_USER_INPUT');
  });

  it('takes text that looks like code for text', async () => {
    const title = `'); drop table tasks; -- \${jndi} {{7*7}}`;
    expect((await service.user().create({ title, description: title, category: title })).category).toBe(title);
  });
});

describe('updating a task', () => {
  it('changes what was sent and nothing else', async () => {
    const user = service.user();
    const task = await user.create({
      title: 'before',
      description: 'd',
      category: 'c',
      dueDate: '2026-12-01T00:00:00Z',
      priority: 'LOW',
    });
    clock.advance(1_000);
    expect(await user.update(task.id, { title: 'after' })).toEqual({
      ...task,
      title: 'after',
      version: 2,
      updatedAt: new Date(clock.now()).toISOString(),
    });
  });

  it('tells null, which clears, from absent, which keeps', async () => {
    const user = service.user();
    const task = await user.create({ title: 'full', description: 'd', category: 'c', dueDate: '2026-12-01T00:00:00Z' });
    const cleared = await user.update(task.id, { description: null, dueDate: null });
    expect(cleared).toMatchObject({ description: null, dueDate: null, category: 'c' });
    expect(await user.update(task.id, { category: null })).toMatchObject({ category: null, title: 'full' });
  });

  it('completes a task and makes it pending again', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'to do' });
    expect((await user.update(id, { completed: true })).completed).toBe(true);
    expect((await user.update(id, { title: 'still done' })).completed).toBe(true);
    expect((await user.update(id, { completed: false })).completed).toBe(false);
  });

  it('counts an empty change, too', async () => {
    const user = service.user();
    const task = await user.create({ title: 'untouched' });
    const touched = await user.update(task.id, {});
    expect(touched).toEqual({ ...task, version: 2, updatedAt: expect.any(String) });
    expect(touched.updatedAt > task.updatedAt).toBe(true);
  });

  it('lets updated_at grow even when the clock stands still or goes back', async () => {
    const user = service.user();
    clock.set('2026-11-20T10:00:00.000Z');
    const { id } = await user.create({ title: 'timeless' });
    expect((await user.update(id, {})).updatedAt).toBe('2026-11-20T10:00:00.001Z');
    clock.set('2026-11-20T09:00:00.000Z');
    expect((await user.update(id, {})).updatedAt).toBe('2026-11-20T10:00:00.002Z');
  });

  it('ends with the year 9999: from then on only the version grows', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'of the last moment' });
    const last = '9999-12-31T23:59:59.999Z';
    await service.database.query('update tasks set updated_at = $2, created_at = $2, due_date = $2 where id = $1', [
      id,
      last,
    ]);
    for (const version of [2, 3]) expect(await user.update(id, {})).toMatchObject({ version, updatedAt: last });
    expect(await user.update(id, { dueDate: last })).toMatchObject({ dueDate: last, version: 4 });
    for (const field of ['UPDATED_AT', 'CREATED_AT', 'DUE_DATE']) {
      const list = `query ($after: String) { tasks(first: 1, after: $after, orderBy: { field: ${field}, direction: ASC }) {
        edges { cursor node { id } } } }`;
      const { tasks } = await user.ask(list);
      expect(tasks.edges).toMatchObject([{ node: { id } }]);
      expect((await user.ask(list, { after: tasks.edges[0].cursor })).tasks.edges).toEqual([]);
    }
    await user.remove(id);
    const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 10);
    expect(changes.map(({ occurredAt }) => occurredAt).slice(1)).toEqual([last, last, last, last]);
  });

  it.each([
    ['title', null],
    ['title', '   '],
    ['priority', null],
    ['completed', null],
    ['dueDate', 'tomorrow'],
    ['dueDate', 5],
  ])('refuses %s: %j and leaves the task alone', async (field, value) => {
    const user = service.user();
    const task = await user.create({ title: 'steady' });
    const result = await user.send(UPDATE, { id: task.id, input: { [field]: value } });
    expect([codeOf(result), issuesOf(result)]).toEqual(['BAD_USER_INPUT', [expect.objectContaining({ path: field })]]);
    expect((await user.ask(`query ($id: ID!) { task(id: $id) { ${FIELDS} } }`, { id: task.id })).task).toEqual(task);
  });

  it('loses nothing when a hundred updates meet', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'contended' });
    const fields = ['title', 'description', 'category', 'dueDate'];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => {
        const field = fields[n % 4] ?? 'title';
        return user.update(id, { [field]: field === 'dueDate' ? '2026-12-24T18:00:00Z' : `value ${n}` });
      }),
    );
    const inOrder = answers.toSorted((one, other) => one.version - other.version);
    expect(inOrder.map(({ version }) => version)).toEqual(Array.from({ length: 100 }, (_, n) => n + 2));
    expect(new Set(inOrder.map(({ updatedAt }) => updatedAt)).size).toBe(100);
    expect(inOrder.map(({ updatedAt }) => updatedAt)).toEqual(answers.map(({ updatedAt }) => updatedAt).toSorted());
    const { task } = await user.ask(`query ($id: ID!) { task(id: $id) { ${FIELDS} } }`, { id });
    expect(task).toEqual(inOrder.at(-1));
    expect(task).toMatchObject({
      title: expect.stringMatching(/^value/),
      description: expect.stringMatching(/^value/),
      category: expect.stringMatching(/^value/),
      dueDate: '2026-12-24T18:00:00.000Z',
    });
  });
});

describe('deleting a task', () => {
  it('gives its id back, and then it is gone', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'short-lived' });
    expect(await user.remove(id)).toBe(id);
    expect((await user.ask('query ($id: ID!) { task(id: $id) { id } }', { id })).task).toBeNull();
    await expect(user.remove(id)).rejects.toThrow('NOT_FOUND');
    await expect(user.update(id, {})).rejects.toThrow('NOT_FOUND');
  });

  it('and updating it at once leaves either order behind, never a torn feed', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'fought over' });
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 10 }, () => user.update(id, {})),
      user.remove(id),
      ...Array.from({ length: 10 }, () => user.update(id, {})),
    ]);
    const updates = outcomes.filter((outcome, n) => n !== 10 && outcome.status === 'fulfilled').length;
    expect(outcomes[10]?.status).toBe('fulfilled');
    const { changes } = await service.tasks.internal.changesAfter(user.id, 0, 100);
    expect(changes.map(({ kind }) => kind)).toEqual(['INSERT', ...Array(updates).fill('UPDATE'), 'DELETE']);
  });
});

describe('a version that the caller expects', () => {
  it('lets the change through when it is the current one', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'versioned' });
    expect((await user.update(id, { title: 'second' }, 1)).version).toBe(2);
    expect(await user.remove(id, 2)).toBe(id);
  });

  it('stops the change when it is another, and nothing is counted', async () => {
    const user = service.user();
    const task = await user.create({ title: 'versioned' });
    await expect(user.update(task.id, { title: 'late' }, 2)).rejects.toThrow('PRECONDITION_FAILED');
    await expect(user.remove(task.id, 7)).rejects.toThrow('PRECONDITION_FAILED');
    const { task: now } = await user.ask(`query ($id: ID!) { task(id: $id) { ${FIELDS} } }`, { id: task.id });
    expect(now).toEqual(task);
    expect((await service.tasks.internal.heads([user.id])).heads[user.id]).toBe(1);
  });

  it('lets exactly one of many through', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'raced' });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => user.update(id, {}, 1)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a task that the caller cannot have', () => {
  const ids = [
    'abc',
    '1',
    '',
    '00000000-0000-0000-0000-000000000000',
    '{01890000-0000-7000-8000-000000000001}',
    `'`,
    'x'.repeat(10_000),
  ];

  it.each(ids)('is not found by the id %.50s', async (id) => {
    const user = service.user();
    const result = await user.send('query ($id: ID!) { task(id: $id) { id } }', { id });
    expect(result).toEqual({ data: { task: null } });
    await expect(user.update(id, {})).rejects.toThrow('NOT_FOUND');
    await expect(user.remove(id)).rejects.toThrow('NOT_FOUND');
  });

  it('looks the same whether it is not there or not theirs', async () => {
    const owner = service.user();
    const stranger = service.user();
    const task = await owner.create({ title: 'private' });
    const send = (id: string) => stranger.send(UPDATE, { id, input: { title: 'mine now' } });
    expect(await send(task.id)).toEqual(await send('01890000-0000-7000-8000-000000000001'));
    await expect(stranger.remove(task.id)).rejects.toThrow('NOT_FOUND');
    expect((await stranger.ask('query ($id: ID!) { task(id: $id) { id } }', { id: task.id })).task).toBeNull();
    expect((await owner.ask(`query ($id: ID!) { task(id: $id) { ${FIELDS} } }`, { id: task.id })).task).toEqual(task);
    expect((await service.tasks.internal.heads([stranger.id])).heads[stranger.id]).toBe(0);
  });

  it('is found whatever the case of its id', async () => {
    const user = service.user();
    const { id } = await user.create({ title: 'shouted' });
    expect((await user.ask('query ($id: ID!) { task(id: $id) { id } }', { id: id.toUpperCase() })).task).toEqual({
      id,
    });
    expect(await user.remove(id.toUpperCase())).toBe(id);
  });
});
