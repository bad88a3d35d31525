import { createConsoleStorage } from './console-storage.ts';

const SESSION = 'taskmesh.session';
const ENDED = 'taskmesh.ended';
const WRITES = 'taskmesh.writes.ada';

beforeAll(() => Object.assign(globalThis, { addEventListener: () => undefined }));
afterAll(() => {
  for (const name of ['addEventListener', 'localStorage', 'sessionStorage']) Reflect.deleteProperty(globalThis, name);
});

/** A sessionStorage or localStorage. */
function createWebStorage() {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
    key: (index: number) => [...items.keys()][index] ?? null,
    get length() {
      return items.size;
    },
  };
}

function createDevice() {
  const localStorage = createWebStorage();
  const openTab = (sessionStorage = createWebStorage()) => {
    for (const [name, value] of Object.entries({ localStorage, sessionStorage }))
      Object.defineProperty(globalThis, name, { value, configurable: true });
    return createConsoleStorage();
  };
  return { openTab };
}

const sessionOf = (id: string, token = id) => JSON.stringify({ user: { id }, token });

it.each([
  ['the device', 'the tab', true],
  ['the tab', 'the device', false],
])('moves pending writes from %s with a sign-in that uses %s', async (_from, _to, first) => {
  const { openTab } = createDevice();
  const tab = createWebStorage();
  const storage = openTab(tab);
  await storage.stay(first, async () => storage.setItem(SESSION, sessionOf('ada', 'first')));
  storage.setItem(WRITES, '[1]');
  storage.setItem(ENDED, 'ada 1');
  storage.removeItem(SESSION);
  await storage.stay(!first, async () => storage.setItem(SESSION, sessionOf('ada', 'second')));
  expect(storage.getItem(SESSION)).toContain('second');
  expect([storage.endsWithTab(), storage.getItem(WRITES)]).toEqual([first, '[1]']);
  expect(openTab(tab).getItem(WRITES)).toBe('[1]');
  storage.removeItem(WRITES);
  expect(openTab(tab).getItem(WRITES)).toBeNull();
});

/** A tab with a session of its own and another tab with the device's, both of the same user and with a pending write. */
async function createSeparateTabs() {
  const { openTab } = createDevice();
  const others = openTab();
  const tab = createWebStorage();
  const storage = openTab(tab);
  await storage.stay(false, async () => storage.setItem(SESSION, sessionOf('ada', 'of the tab')));
  await others.stay(true, async () => others.setItem(SESSION, sessionOf('ada', 'of the device')));
  storage.setItem(WRITES, '[1]');
  others.setItem(WRITES, '[2]');
  return { others, storage, tab, openTab };
}

it('keeps the pending writes of a tab apart from those of the device, and waits for no other tab', async () => {
  const { others, storage, openTab } = await createSeparateTabs();
  expect([storage.getItem(WRITES), others.getItem(WRITES)]).toEqual(['[1]', '[2]']);
  const another = openTab();
  await another.stay(false, async () => another.setItem(SESSION, sessionOf('ada')));
  expect(new Set([storage.name, another.name, others.name]).size).toBe(3);
  expect([others.name, another.getItem(WRITES)]).toEqual([undefined, null]);
  storage.removeItem(SESSION);
  expect(storage.name).toMatch(/^taskmesh\./); // the sign-out goes on
  storage.removeItem(WRITES);
  expect([storage.name, others.getItem(WRITES)]).toEqual([undefined, '[2]']);
});

it('keeps pending writes in the tab whose session has ended, no matter who signs in elsewhere, until its user signs in', async () => {
  const { others, storage, tab, openTab } = await createSeparateTabs();
  storage.setItem(ENDED, 'ada 1');
  storage.removeItem(SESSION);
  await storage.stay(true, () => Promise.reject(new Error('refused'))).catch(() => undefined);
  storage.setItem(WRITES, '[1, 3]');
  expect([storage.getItem(SESSION), storage.endsWithTab()]).toEqual([null, true]);
  const reopened = openTab(tab);
  expect(reopened.getItem(WRITES)).toBe('[1, 3]');
  await reopened.stay(true, async () => reopened.setItem(SESSION, sessionOf('ada')));
  expect([others.getItem(WRITES), tab.getItem(WRITES)]).toEqual(['[2,1, 3]', null]);
});

it('signing out of the session of a tab keeps the session of the device for other tabs', async () => {
  const { others, storage, tab } = await createSeparateTabs();
  storage.removeItem(SESSION);
  storage.removeItem(WRITES);
  expect(others.getItem(SESSION)).toContain('of the device');
  expect(tab.length).toBe(0);
});

it('a tab keeps a renewed session of the device on the device, even after a failed sign-in', async () => {
  const { openTab } = createDevice();
  const storage = openTab();
  const others = openTab();
  await others.stay(true, async () => others.setItem(SESSION, sessionOf('of the device')));
  storage.setItem(SESSION, 'renewed');
  expect(others.getItem(SESSION)).toBe('renewed');
  await expect(storage.stay(false, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(storage.endsWithTab()).toBe(false);
  storage.setItem(SESSION, 'renewed again');
  expect(others.getItem(SESSION)).toBe('renewed again');
});

it('ends with the tab if the browser denies the storage of the device, even when the user stays signed in', async () => {
  createDevice().openTab();
  const denied = {
    get: () => {
      throw new Error('denied');
    },
    configurable: true,
  };
  Object.defineProperty(globalThis, 'localStorage', denied);
  const storage = createConsoleStorage();
  await storage.stay(true, async () => storage.setItem(SESSION, sessionOf('ada')));
  expect([storage.endsWithTab(), storage.getItem(SESSION)]).toEqual([true, sessionOf('ada')]);
});

it.each([
  ['[1, 2]', 2],
  ['[1', 0],
])('counts the pending writes in %s', (stored, expected) => {
  const storage = createDevice().openTab();
  storage.setItem(WRITES, stored);
  expect(storage.countWrites('ada')).toBe(expected);
});
