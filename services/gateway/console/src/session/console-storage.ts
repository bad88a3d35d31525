import { createMemoryStorage, type Storage } from '@taskmesh/client';
import { createTab, TAB } from './tab.ts';

/** Keeps tokens and pending writes, either in the tab (sessionStorage) or on the device (localStorage). */
export interface ConsoleStorage extends Storage {
  getItem(key: string): string | null;
  /** Runs a sign-in whose session, and its data, outlives the tab if `stays`. A failed sign-in changes nothing. */
  stay<Result>(stays: boolean, signIn: () => Promise<Result>): Promise<Result>;
  /** Whether closing the tab discards what is stored. */
  endsWithTab(): boolean;
  /** If the tab is a copy of another, removes the copied items, which belong to the original. Returns whether it is a copy. */
  emptyCopy(): Promise<boolean>;
}

const OURS = 'taskmesh.';
/** The client's key for its tokens. */
const SESSION = 'taskmesh.session';
/** The prefix of the client's keys for pending writes, one key per user. Only one page at a time owns them. */
const WRITES = 'taskmesh.writes.';
/** The prefix of the items that a provider sign-in needs on return, which is always in the same tab. */
const SIGN_IN = 'taskmesh.sign-in';

export function createConsoleStorage(): ConsoleStorage {
  const tab = usable(() => sessionStorage);
  const device = usable(() => localStorage);
  const ofDevice = () => tab.getItem(SESSION) === null && device.getItem(SESSION) !== null;
  let stays = ofDevice();
  let isSigningIn = false;
  /** A session stays where it is, even if another tab stored it: renewing it elsewhere would leave used tokens behind. */
  const isKept = () => {
    if (!isSigningIn && getItem(SESSION) !== null) stays = ofDevice();
    return stays;
  };
  const getItem = (key: string) => tab.getItem(key) ?? device.getItem(key);
  const { name, isCopy } = createTab(tab);
  const ours = () => keysOf(tab).filter((key) => key.startsWith(OURS));
  return {
    getItem,
    setItem(key, value) {
      const [place, other] = isKept() && !key.startsWith(SIGN_IN) ? [device, tab] : [tab, device];
      place.setItem(key, value);
      if (place === tab) tab.setItem(TAB, name);
      // Writes left in the other storage would be sent again one day; a session left in the tab would hide the device's.
      if (key.startsWith(WRITES) || place === device) other.removeItem(key);
    },
    removeItem(key) {
      if (key.startsWith(WRITES)) for (const place of [tab, device]) place.removeItem(key);
      else (tab.getItem(key) === null ? device : tab).removeItem(key);
      if (ours().length === 1) tab.removeItem(TAB); // only the name is left
    },
    async stay(next, signIn) {
      const before = isKept();
      [stays, isSigningIn] = [next, true];
      try {
        return await signIn();
      } catch (error) {
        stays = before;
        throw error;
      } finally {
        isSigningIn = false;
      }
    },
    endsWithTab: () => !isKept(),
    async emptyCopy() {
      if (!(await isCopy())) return false;
      for (const key of ours()) tab.removeItem(key);
      stays = ofDevice();
      return true;
    },
  };
}

type WebStorage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

const keysOf = (storage: WebStorage): string[] =>
  Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');

/** Returns a storage in memory if the browser is configured to deny storage to pages. */
function usable(find: () => WebStorage): WebStorage {
  try {
    return find();
  } catch {
    return { ...createMemoryStorage(), key: () => null, length: 0 } as WebStorage; // memory storage is synchronous
  }
}
