import { createMemoryStorage, type Storage } from '@taskmesh/client';

/** Keeps tokens and pending writes: in the tab, or on the device. */
export interface ConsoleStorage extends Storage {
  getItem(key: string): string | null;
  /** Whether what is stored from now on outlives the tab. */
  stay(stays: boolean): void;
}

/** The client's key for its tokens. */
const SESSION = 'taskmesh.session';
/** The prefix of what a sign-in at a provider stores for its return, always in the same tab. */
const SIGN_IN = 'taskmesh.sign-in';

export function createConsoleStorage(): ConsoleStorage {
  const tab = usable(() => sessionStorage);
  const device = usable(() => localStorage);
  let stays = tab.getItem(SESSION) === null && device.getItem(SESSION) !== null;
  return {
    getItem: (key) => tab.getItem(key) ?? device.getItem(key),
    setItem: (key, value) => (stays && !key.startsWith(SIGN_IN) ? device : tab).setItem(key, value),
    removeItem: (key) => (tab.getItem(key) === null ? device : tab).removeItem(key),
    stay: (next) => void (stays = next),
  };
}

type WebStorage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Browsers can be configured to deny storage to pages. Then everything is kept in memory. */
function usable(find: () => WebStorage): WebStorage {
  try {
    return find();
  } catch {
    return createMemoryStorage() as WebStorage; // this one is synchronous
  }
}
