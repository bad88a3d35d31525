import { createConsoleStorage } from './console-storage.ts';

const SESSION = 'taskmesh.session';
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

/** Signs in twice, with a pending write in between, and reverses the choice to stay signed in the second time. */
async function signInOtherwise(first: boolean) {
  const { openTab } = createDevice();
  const tab = createWebStorage();
  const storage = openTab(tab);
  await storage.stay(first, async () => storage.setItem(SESSION, 'first'));
  storage.setItem(WRITES, '[1]');
  await storage.stay(!first, async () => storage.setItem(SESSION, 'second'));
  expect(storage.getItem(SESSION)).toBe('second');
  return { storage, reopen: () => openTab(tab) };
}

it.each([
  ['the device', 'the tab', true],
  ['the tab', 'the device', false],
])('removes completed writes from %s after a sign-in that uses %s', async (_from, _to, first) => {
  const { storage, reopen } = await signInOtherwise(first);
  expect(storage.getItem(WRITES)).toBe('[1]');
  storage.setItem(WRITES, '[1, 2]');
  storage.removeItem(WRITES);
  expect(reopen().getItem(WRITES)).toBeNull();
});

it.each([true, false])(
  'removes completed writes that were not stored again after a second sign-in (first on the device: %s)',
  async (first) => {
    const { storage, reopen } = await signInOtherwise(first);
    storage.removeItem(WRITES);
    expect(reopen().getItem(WRITES)).toBeNull();
  },
);

it('signing out of the session of a tab keeps the session of the device for other tabs', async () => {
  const { openTab } = createDevice();
  const others = openTab();
  await others.stay(true, async () => others.setItem(SESSION, 'of the device'));
  const tab = createWebStorage();
  const storage = openTab(tab);
  await storage.stay(false, async () => storage.setItem(SESSION, 'of the tab'));
  storage.removeItem(SESSION);
  expect(others.getItem(SESSION)).toBe('of the device');
  expect(tab.length).toBe(0);
});

it('a tab keeps a renewed session of the device on the device, even after a failed sign-in', async () => {
  const { openTab } = createDevice();
  const storage = openTab();
  const others = openTab();
  await others.stay(true, async () => others.setItem(SESSION, 'of the device'));
  storage.setItem(SESSION, 'renewed');
  expect(others.getItem(SESSION)).toBe('renewed');
  await expect(storage.stay(false, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(storage.endsWithTab()).toBe(false);
  storage.setItem(SESSION, 'renewed again');
  expect(others.getItem(SESSION)).toBe('renewed again');
});
