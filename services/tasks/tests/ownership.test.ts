import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import { codeOf, startTasks, type TestTasks } from './support/running-tasks.ts';

let service: TestTasks;

beforeAll(async () => {
  service = await startTasks({ name: 'ownership' });
});
afterAll(() => service.stop());

const ENTITIES = `query ($of: [_Any!]!) { _entities(representations: $of) {
  ... on Task { id title } ... on User { id tasks { totalCount edges { node { title } } } taskStatistics { total } }
} }`;

const operations = [
  '{ task(id: "01890000-0000-7000-8000-000000000001") { id } }',
  '{ tasks { totalCount } }',
  '{ taskStatistics { total } }',
  'mutation { createTask(input: { title: "without an owner" }) { id } }',
  'mutation { updateTask(id: "01890000-0000-7000-8000-000000000001", input: {}) { id } }',
  'mutation { deleteTask(id: "01890000-0000-7000-8000-000000000001") }',
  '{ _entities(representations: [{ __typename: "User", id: "u" }]) { ... on User { id } } }',
];
const others: Identity[] = [ANONYMOUS, { role: 'operator' }, { role: 'service', name: 'gateway' }];

it.each(others.flatMap((identity) => operations.map((query) => ({ role: identity.role, query, identity }))))(
  'needs a user, not $role, for $query',
  async ({ query, identity }) => {
    expect(codeOf(await service.tasks.subgraph.execute({ query }, { identity, requestId: 'r' }))).toBe(
      'UNAUTHENTICATED',
    );
  },
);

it('resolves references to tasks for their owner only', async () => {
  const owner = service.user();
  const { id } = await owner.create({ title: 'referenced' });
  const of = [
    { __typename: 'Task', id },
    { __typename: 'Task', id: 'nonsense' },
  ];
  expect((await owner.ask(ENTITIES, { of }))._entities).toEqual([{ id, title: 'referenced' }, null]);
  expect((await service.user().ask(ENTITIES, { of }))._entities).toEqual([null, null]);
});

it('contributes tasks and statistics to the caller, and nothing to any other user', async () => {
  const owner = service.user();
  await owner.create({ title: 'of the owner' });
  const of = [{ __typename: 'User', id: owner.id }];
  expect((await owner.ask(ENTITIES, { of }))._entities).toEqual([
    {
      id: owner.id,
      tasks: { totalCount: 1, edges: [{ node: { title: 'of the owner' } }] },
      taskStatistics: { total: 1 },
    },
  ]);
  expect(await service.user().send(ENTITIES, { of })).toEqual({ data: { _entities: [null] } });
});
