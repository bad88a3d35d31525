import { createMemoryStorage, type Storage } from '@taskmesh/client';

/** Tokens and waiting writes: they go with the tab, or stay with the device. */
export interface ConsoleStorage extends Storage {
  getItem(key: string): string | null;
  /** Whether what is kept from now on stays when the tab is closed. */
  stay(stays: boolean): void;
}

/** Where the client has its tokens. */
const SESSION = 'taskmesh.session';
/** What a sign-in at a provider needs when it comes back to this tab begins with this. It concerns no other tab. */
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

/** Browsers can be told to let no page keep anything: then it is forgotten with the page. */
function usable(find: () => WebStorage): WebStorage {
  try {
    return find();
  } catch {
    return createMemoryStorage() as WebStorage; // this one answers at once
  }
}
