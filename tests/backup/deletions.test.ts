import type { Identity } from '@taskmesh/identity';
import { atEnd, eventually } from '@taskmesh/testing';
import { runStores } from './stores.ts';

const PASSWORD = 'correct horse battery';
const SIGN_UP = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken user { id } } }';
const CREATE = 'mutation ($title: String!) { createTask(input: { title: $title }) { id } }';
const stores = await runStores('deletions');
afterAll(() => stores.stop());

async function ask(
  service: 'auth' | 'tasks',
  query: string,
  variables: object = {},
  identity: Identity = { role: 'anonymous' },
  { services } = stores,
) {
  const { subgraph } = services[service];
  const result = await subgraph.execute({ query, variables: { ...variables } }, { identity, requestId: 'test' });
  if (result.errors) throw new Error(JSON.stringify(result.errors));
  return result;
}

async function remove(account: Identity, of = stores): Promise<void> {
  const query = 'mutation ($input: DeleteAccountInput!) { deleteAccount(input: $input) }';
  await ask('auth', query, { input: { password: PASSWORD } }, account, of);
}

/** An account with two tasks. */
async function signUp(email: string, of = stores): Promise<Identity & { role: 'user' }> {
  const input = { email, password: PASSWORD, name: 'Somebody' };
  const { extensions } = await ask('auth', SIGN_UP, { input }, undefined, of);
  const identity = { role: 'user', ...(extensions?.session as { userId: string; sessionId: string }) } as const;
  for (const title of ['one', 'two']) await ask('tasks', CREATE, { title }, identity, of);
  return identity;
}

const emails = async ({ auth } = stores) =>
  (await auth.query('select email from accounts order by email')).map(({ email }) => email);
const owners = async ({ tasks } = stores) =>
  (await tasks.query('select user_id from tasks order by user_id')).map(({ user_id }) => user_id);

it('restoring an archive from before a deletion, or undoing it, brings back neither the account nor its tasks', async () => {
  const ada = await signUp('ada@example.com');
  const bob = await signUp('bob@example.com');
  const { file } = await stores.work.create();
  await remove(ada);
  await stores.services.tasks.processDeletions();
  expect(await emails()).toEqual(['bob@example.com']);
  expect(await owners()).toEqual([bob.userId, bob.userId]);

  const forecast = await stores.work.dryRun(file);
  expect(forecast.accounts).toMatchObject({ gone: 0, back: 0 });
  expect((await stores.work.restore(file)).outcome).toBe('RESTORED');
  expect(await emails()).toEqual(['bob@example.com']);
  expect(await owners()).toEqual([bob.userId, bob.userId]);
  await expect(ask('tasks', CREATE, { title: 'late' }, ada)).rejects.toThrow('UNAUTHENTICATED');
  await ask('tasks', CREATE, { title: 'three' }, bob);

  // Deleted after the restore, so the replaced stores, which the undo brings back, still have the account.
  await remove(bob);
  await stores.services.tasks.processDeletions();
  expect((await stores.work.undo()).outcome).toBe('RESTORED');
  expect(await emails()).toEqual([]);
  expect(await owners()).toEqual([]);
  const trail = await stores.auth.query('select distinct kind from audit_log where account_id = any($1)', [
    [ada.userId, bob.userId],
  ]);
  expect(trail).toEqual([{ kind: 'account.deleted' }]);
  expect((await signUp('ada@example.com')).userId).not.toBe(ada.userId);
}, 180_000);

it('an account deleted right before the swap, which tasks has not processed yet, is deleted after it', async () => {
  const carol = await signUp('carol@example.com');
  const { file } = await stores.work.create();
  const importing = stores.services.tasks.restore.importDatabase;
  let isDeleted = false;
  stores.services.tasks.restore.importDatabase = async (...args) => {
    const result = await importing(...args);
    await remove(carol);
    isDeleted = true;
    return result;
  };
  try {
    expect((await stores.work.restore(file)).outcome).toBe('RESTORED');
  } finally {
    stores.services.tasks.restore.importDatabase = importing;
  }
  expect(isDeleted).toBe(true);
  expect(await emails()).not.toContain('carol@example.com');
  await eventually(
    async () => {
      await stores.services.tasks.processDeletions();
      expect(await owners()).not.toContain(carol.userId);
    },
    { timeoutMs: 20_000 },
  );
}, 180_000);

it('a new installation gets the accounts of the archive, but no tasks of an account that was being deleted', async () => {
  const [dora, emil] = [await signUp('dora@example.com'), await signUp('emil@example.com')];
  await remove(dora);
  await stores.services.tasks.processDeletions();
  // As if the archive had been made before tasks processed the deletion.
  await stores.tasks.query(
    `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
     values (gen_random_uuid(), $1, 'not deleted yet', false, 'low', now(), now())`,
    [dora.userId],
  );
  const { file } = await stores.work.create();
  const download = await stores.work.download(file);
  const other = await runStores('deletions_new');
  atEnd(() => other.stop());
  await other.work.upload(file, download?.content as never);
  expect((await other.work.restore(file)).outcome).toBe('RESTORED');
  expect(await emails(other)).toEqual(await emails());
  expect(await emails(other)).toContain('emil@example.com');
  await eventually(
    async () => {
      await other.services.tasks.processDeletions();
      expect(await owners(other)).not.toContain(dora.userId);
    },
    { timeoutMs: 20_000 },
  );
  expect((await owners(other)).filter((owner) => owner === emil.userId)).toHaveLength(2);
}, 180_000);

it('an installation with deletions of its own still applies the deletions recorded in an archive', async () => {
  const gina = await signUp('gina@example.com');
  const before = await stores.work.create();
  await remove(gina);
  await stores.services.tasks.processDeletions();
  const after = await stores.work.create();
  const other = await runStores('deletions_elsewhere');
  const take = async ({ file }: { file: string }) => {
    const download = await stores.work.download(file);
    await other.work.upload(file, download?.content as never);
    expect((await other.work.restore(file)).outcome).toBe('RESTORED');
  };
  const deleted = async () =>
    (await other.auth.query('select account_id from account_log order by sequence')).map(
      ({ account_id }) => account_id,
    );
  atEnd(() => other.stop());
  const hugo = await signUp('hugo@example.com', other);
  await remove(hugo, other);
  await take(after);
  const log = await deleted();
  expect(log[0]).toBe(hugo.userId);
  expect(log).toContain(gina.userId);
  await take(before);
  expect(await deleted()).toEqual(log);
  expect(await emails(other)).not.toContain('gina@example.com');
  await other.services.tasks.processDeletions();
  const [position] = await other.tasks.query('select sequence::int as sequence from account_position');
  expect(position?.sequence).toBe(log.length);
  await expect(ask('tasks', CREATE, { title: 'late' }, gina, other)).rejects.toThrow('UNAUTHENTICATED');
}, 180_000);
