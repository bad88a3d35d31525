import { createConsoleStorage } from './console-storage.ts';

const SESSION = 'taskmesh.session';
const WRITES = 'taskmesh.writes.ada';

beforeAll(() => Object.assign(globalThis, { addEventListener: () => undefined }));
afterAll(() => {
  for (const name of ['addEventListener', 'localStorage', 'sessionStorage']) Reflect.deleteProperty(globalThis, name);
});

/** As browsers have it: of a tab, or of a device. */
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

/** A user who signs in once more while a write waits, and chooses otherwise than at first whether to stay signed in. */
function signInOtherwise(first: boolean) {
  const { openTab } = createDevice();
  const tab = createWebStorage();
  const storage = openTab(tab);
  storage.stay(first);
  storage.setItem(WRITES, '[1]');
  storage.stay(!first);
  return { storage, reopen: () => openTab(tab) };
}

it.each([
  ['the device', 'the tab', true],
  ['the tab', 'the device', false],
])('writes that waited in %s are gone once they are done in %s', (_from, _to, first) => {
  const { storage, reopen } = signInOtherwise(first);
  expect(storage.getItem(WRITES)).toBe('[1]');
  storage.setItem(WRITES, '[1, 2]');
  storage.removeItem(WRITES);
  expect(reopen().getItem(WRITES)).toBeNull();
});

it.each([true, false])(
  'writes that were never kept anew are gone as well once they are done (on the device: %s)',
  (first) => {
    const { storage, reopen } = signInOtherwise(first);
    storage.removeItem(WRITES);
    expect(reopen().getItem(WRITES)).toBeNull();
  },
);

it('signing out in a tab leaves the session of the device to the others', () => {
  const { openTab } = createDevice();
  const others = openTab();
  others.stay(true);
  others.setItem(SESSION, 'of the device');
  const tab = createWebStorage();
  const storage = openTab(tab);
  storage.stay(false);
  storage.setItem(SESSION, 'of the tab');
  storage.removeItem(SESSION);
  expect(others.getItem(SESSION)).toBe('of the device');
  expect(tab.length).toBe(0);
});
