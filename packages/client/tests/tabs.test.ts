import { atEnd, eventually } from '@taskmesh/testing';
import { createClient, type Client } from '../src/client.ts';
import { CREATE_TASK, LOGIN, LOGOUT } from '../src/operations.generated.ts';
import { createMemoryStorage, type Storage } from '../src/storage.ts';
import { settled } from './support/manual-time.ts';

const WRITES = 'taskmesh.writes.ada';
const CREDENTIALS = { email: 'ada', password: 'a long and private phrase' };
const TEXT = 'a private text';

/** A server that supports sign-in and sign-out but never responds to a write. */
const fetch = (async (_url: string, { body }: { body: string }) => {
  const { query, variables } = JSON.parse(body) as { query: string; variables: { input?: { email: string } } };
  if (query === CREATE_TASK) return new Promise(() => {});
  const id = variables.input?.email ?? '';
  const user = { id, email: id, name: id };
  if (query === LOGIN)
    return Response.json({ data: { login: { user, accessToken: id, refreshToken: id, expiresIn: 3_600 } } });
  if (query === LOGOUT) return Response.json({ data: { logout: true } });
  throw new Error('no answer');
}) as typeof globalThis.fetch;

function open(storage: Storage) {
  const client = createClient({ url: 'http://taskmesh.test', storage, fetch });
  atEnd(() => client.close());
  return client;
}

const write = (page: Client) => page.createTask({ title: TEXT }).then(String, ({ code }: { code: string }) => code);
const storesWrite = (storage: Storage) => eventually(async () => expect(await storage.getItem(WRITES)).toContain(TEXT));

/** Pages that share a storage, of which one stores writes. */
async function createTwoPages() {
  const storage = createMemoryStorage();
  const owner = open(storage);
  await owner.signIn(CREDENTIALS);
  await eventually(() => expect(owner.keepsWrites()).toBe(true));
  const other = open(storage);
  await eventually(() => expect(other.user()?.id).toBe('ada'));
  return { storage, owner, other };
}

it.each(['owner', 'other'] as const)(
  'a sign-out on the %s page removes all private data from the storage and from both pages',
  async (which) => {
    const pages = await createTwoPages();
    const { storage, owner, other } = pages;
    const outcomes = [owner, other].map(write);
    await storesWrite(storage);
    await pages[which].signOut();
    expect(await storage.getItem(WRITES)).toBeNull();
    expect(await Promise.all(outcomes)).toEqual(['SIGNED_OUT', 'SIGNED_OUT']);
    await eventually(() => expect([owner.user(), other.user()]).toEqual([null, null]));
    expect([owner.pendingWrites(), other.pendingWrites()]).toEqual([0, 0]);
    expect([await storage.getItem(WRITES), await storage.getItem('taskmesh.session')]).toEqual([null, null]);
  },
);

it('stores no data after a sign-out that this page has not noticed yet', async () => {
  const { storage, owner, other } = await createTwoPages();
  const outcome = write(owner);
  await storesWrite(storage);
  const signedOut = other.signOut();
  for (let each = 0; each < 5; each++) {
    await settled();
    void write(owner);
  }
  await signedOut;
  expect(await outcome).toBe('SIGNED_OUT');
  expect(await storage.getItem(WRITES)).toBeNull();
});

it('keeps a separate session when the same user signs out on another page', async () => {
  const { storage, owner } = await createTwoPages();
  const separate = createMemoryStorage();
  const apart = open(separate);
  await apart.signIn(CREDENTIALS);
  void write(apart);
  await owner.signOut();
  await eventually(() => expect(apart.keepsWrites()).toBe(true)); // the lock is free by now
  expect([apart.user()?.id, apart.pendingWrites()]).toEqual(['ada', 1]);
  expect(await separate.getItem(WRITES)).toContain(TEXT);
  expect(await storage.getItem(WRITES)).toBeNull();
});

it('follows only pages whose storage has the same name as its own by then', async () => {
  const { storage, owner, other } = await createTwoPages();
  const named = { ...storage };
  const apart = open(named);
  await eventually(() => expect(apart.user()?.id).toBe('ada'));
  void write(apart);
  named.name = 'of a tab';
  await owner.signOut();
  await eventually(() => expect(other.user()).toBeNull());
  await settled();
  expect(apart.pendingWrites()).toBe(1);
});

it('keeps the stored writes of the user’s other session when a tab signs out of its own', async () => {
  const { storage: device, owner } = await createTwoPages();
  void write(owner);
  await storesWrite(device);
  const tab = createMemoryStorage();
  const apart = open({
    ...tab,
    name: device.name,
    getItem: async (key) => (await tab.getItem(key)) ?? device.getItem(key),
    removeItem: async (key) => {
      const isOfTab = (await tab.getItem(key)) !== null && key !== WRITES;
      for (const place of isOfTab ? [tab] : [tab, device]) await place.removeItem(key);
    },
  });
  await apart.signIn(CREDENTIALS);
  await apart.signOut();
  expect([apart.user(), apart.pendingWrites()]).toEqual([null, 0]);
  expect(await device.getItem(WRITES)).toContain(TEXT);
  expect([owner.user()?.id, owner.pendingWrites()]).toEqual(['ada', 1]);
});
