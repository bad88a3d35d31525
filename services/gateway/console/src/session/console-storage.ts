import { createMemoryStorage, type Storage } from '@taskmesh/client';
import { createTab, TAB } from './tab.ts';

/** Tokens and waiting writes: they go with the tab, or stay with the device. */
export interface ConsoleStorage extends Storage {
  getItem(key: string): string | null;
  /** Whether what is kept from now on stays when the tab is closed. */
  stay(stays: boolean): void;
  /** Whether what is kept goes when the tab is closed. */
  endsWithTab(): boolean;
  /** Forgets what the tab keeps if it is a copy of another one, to which that belongs. Returns whether it is one. */
  emptyCopy(): Promise<boolean>;
}

const OURS = 'taskmesh.';
/** Where the client has its tokens. */
const SESSION = 'taskmesh.session';
/** Where the client has writes that wait, of each user. One page at a time has them. */
const WRITES = 'taskmesh.writes.';
/** What a sign-in at a provider needs when it comes back to this tab begins with this. It concerns no other tab. */
const SIGN_IN = 'taskmesh.sign-in';

export function createConsoleStorage(): ConsoleStorage {
  const tab = usable(() => sessionStorage);
  const device = usable(() => localStorage);
  const ofDevice = () => tab.getItem(SESSION) === null && device.getItem(SESSION) !== null;
  let stays = ofDevice();
  const { name, isCopy } = createTab(tab);
  const ours = () => keysOf(tab).filter((key) => key.startsWith(OURS));
  return {
    getItem: (key) => tab.getItem(key) ?? device.getItem(key),
    setItem(key, value) {
      const [place, other] = stays && !key.startsWith(SIGN_IN) ? [device, tab] : [tab, device];
      place.setItem(key, value);
      if (place === tab) tab.setItem(TAB, name);
      // Writes that stayed behind in the other one would be sent once more some day.
      if (key.startsWith(WRITES)) other.removeItem(key);
    },
    removeItem(key) {
      if (key.startsWith(WRITES)) for (const place of [tab, device]) place.removeItem(key);
      else (tab.getItem(key) === null ? device : tab).removeItem(key);
      if (ours().length === 1) tab.removeItem(TAB); // it names nothing
    },
    stay: (next) => void (stays = next),
    endsWithTab: () => !stays,
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

/** Browsers can be told to let no page keep anything: then it is forgotten with the page. */
function usable(find: () => WebStorage): WebStorage {
  try {
    return find();
  } catch {
    return { ...createMemoryStorage(), key: () => null, length: 0 } as WebStorage; // this one answers at once
  }
}
