import { atEnd, eventually } from '@taskmesh/testing';
import { runStores } from './stores.ts';

const stores = await runStores('deletions');

/** An account with two tasks. */
const signUp = (email: string, { users } = stores) => users.signUp(email, ['one', 'two']);
/** Deletes an account, and then its tasks. */
const erase = async (account: Awaited<ReturnType<typeof signUp>>) => {
  await stores.users.deleteAccount(account);
  await stores.services.tasks.processDeletions();
};

const emails = async ({ auth } = stores) =>
  (await auth.query('select email from accounts order by email')).map(({ email }) => email);
const owners = async ({ tasks } = stores) =>
  (await tasks.query('select user_id from tasks order by user_id')).map(({ user_id }) => user_id);
/** Waits until an installation has deleted everything of an account. */
const isErased = ({ userId }: { userId: string }, of = stores) =>
  eventually(async () => {
    await of.services.tasks.processDeletions();
    return !(await owners(of)).includes(userId);
  });
const restoreInto = async (other: typeof stores, file: string) => {
  await other.work.upload(file, (await stores.work.download(file))?.content as never);
  expect((await other.work.restore(file)).outcome).toBe('RESTORED');
};

it('restoring an archive from before a deletion, or undoing it, brings back neither the account nor its tasks', async () => {
  const ada = await signUp('ada@example.com');
  const bob = await signUp('bob@example.com');
  const { file } = await stores.work.create();
  await erase(ada);
  expect(await emails()).toEqual(['bob@example.com']);
  expect(await owners()).toEqual([bob.userId, bob.userId]);

  expect((await stores.work.dryRun(file)).accounts).toMatchObject({ gone: 0, back: 0 });
  expect((await stores.work.restore(file)).outcome).toBe('RESTORED');
  expect(await emails()).toEqual(['bob@example.com']);
  expect(await owners()).toEqual([bob.userId, bob.userId]);
  await expect(stores.users.createTask(ada, 'late')).rejects.toThrow('UNAUTHENTICATED');
  await stores.users.createTask(bob, 'three');

  // Deleted after the restore, so the replaced stores, which the undo brings back, still have the account.
  await erase(bob);
  expect((await stores.work.undo()).outcome).toBe('RESTORED');
  expect(await emails()).toEqual([]);
  expect(await owners()).toEqual([]);
  const trail = 'select distinct kind from audit_log where account_id = any($1)';
  expect(await stores.auth.query(trail, [[ada.userId, bob.userId]])).toEqual([{ kind: 'account.deleted' }]);
  expect((await signUp('ada@example.com')).userId).not.toBe(ada.userId);
}, 180_000);

it('an account deleted right before the swap, which tasks has not processed yet, is deleted after it', async () => {
  const carol = await signUp('carol@example.com');
  const { file } = await stores.work.create();
  const importing = stores.services.tasks.restore.importDatabase;
  let isDeleted = false;
  stores.services.tasks.restore.importDatabase = async (...args) => {
    const result = await importing(...args);
    await stores.users.deleteAccount(carol);
    isDeleted = true;
    return result;
  };
  atEnd(() => (stores.services.tasks.restore.importDatabase = importing));
  expect((await stores.work.restore(file)).outcome).toBe('RESTORED');
  expect(isDeleted).toBe(true);
  expect(await emails()).not.toContain('carol@example.com');
  await isErased(carol);
}, 180_000);

it('a new installation gets the accounts of the archive, but no tasks of an account that was being deleted', async () => {
  const [dora, emil] = [await signUp('dora@example.com'), await signUp('emil@example.com')];
  await erase(dora);
  // As if the archive had been made before tasks processed the deletion.
  await stores.tasks.query(
    `insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
     values (gen_random_uuid(), $1, 'not deleted yet', false, 'low', now(), now())`,
    [dora.userId],
  );
  const { file } = await stores.work.create();
  const other = await runStores('deletions_new');
  await restoreInto(other, file);
  expect(await emails(other)).toEqual(await emails());
  expect(await emails(other)).toContain('emil@example.com');
  await isErased(dora, other);
  expect((await owners(other)).filter((owner) => owner === emil.userId)).toHaveLength(2);
}, 180_000);

it('an installation with deletions of its own still applies the deletions recorded in an archive', async () => {
  const gina = await signUp('gina@example.com');
  const before = await stores.work.create();
  await erase(gina);
  const after = await stores.work.create();
  const other = await runStores('deletions_elsewhere');
  const entries = () => other.auth.query('select account_id from account_log order by sequence');
  const deleted = async () => (await entries()).map(({ account_id }) => account_id);
  const hugo = await signUp('hugo@example.com', other);
  await other.users.deleteAccount(hugo);
  await restoreInto(other, after.file);
  const log = await deleted();
  expect(log[0]).toBe(hugo.userId);
  expect(log).toContain(gina.userId);
  await restoreInto(other, before.file);
  expect(await deleted()).toEqual(log);
  expect(await emails(other)).not.toContain('gina@example.com');
  await other.services.tasks.processDeletions();
  const [position] = await other.tasks.query('select sequence::int as sequence from account_position');
  expect(position?.sequence).toBe(log.length);
  await expect(other.users.createTask(gina, 'late')).rejects.toThrow('UNAUTHENTICATED');
}, 180_000);
