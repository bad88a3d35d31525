import { createMemoryStorage, type Storage } from '@taskmesh/client';
import { createTab, TAB } from './tab.ts';

/** Keeps tokens and pending writes: in the tab, or on the device. */
export interface ConsoleStorage extends Storage {
  getItem(key: string): string | null;
  /** Whether the session that this sign-in gives, and what is stored with it, outlives the tab. If it fails, all stays as it is. */
  stay<Result>(stays: boolean, signIn: () => Promise<Result>): Promise<Result>;
  /** Whether what is kept goes when the tab is closed. */
  endsWithTab(): boolean;
  /** Forgets what the tab keeps if it is a copy of another one, to which that belongs. Returns whether it is one. */
  emptyCopy(): Promise<boolean>;
}

const OURS = 'taskmesh.';
/** The client's key for its tokens. */
const SESSION = 'taskmesh.session';
/** The prefix of the client's keys for pending writes, one for each user. Of all pages, one at a time owns them. */
const WRITES = 'taskmesh.writes.';
/** The prefix of what a sign-in at a provider stores for its return, always in the same tab. */
const SIGN_IN = 'taskmesh.sign-in';

export function createConsoleStorage(): ConsoleStorage {
  const tab = usable(() => sessionStorage);
  const device = usable(() => localStorage);
  const ofDevice = () => tab.getItem(SESSION) === null && device.getItem(SESSION) !== null;
  let stays = ofDevice();
  let isSigningIn = false;
  /** A session stays where it is, also one of another tab: a renewed one elsewhere would leave used tokens there. */
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
      // Writes that stayed behind in the other one would be sent once more some day, a session of the tab would hide the device's.
      if (key.startsWith(WRITES) || place === device) other.removeItem(key);
    },
    removeItem(key) {
      if (key.startsWith(WRITES)) for (const place of [tab, device]) place.removeItem(key);
      else (tab.getItem(key) === null ? device : tab).removeItem(key);
      if (ours().length === 1) tab.removeItem(TAB); // it names nothing
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

/** Browsers can be configured to deny storage to pages. Then everything is kept in memory. */
function usable(find: () => WebStorage): WebStorage {
  try {
    return find();
  } catch {
    return { ...createMemoryStorage(), key: () => null, length: 0 } as WebStorage; // this one is synchronous
  }
}
