import { createMemoryStorage, type Storage, type User } from '@taskmesh/client';
import { createTab, TAB } from './tab.ts';

/** Keeps tokens and pending writes, either in the tab (sessionStorage) or on the device (localStorage). */
export interface ConsoleStorage extends Storage {
  getItem(key: string): string | null;
  /** Runs a sign-in whose session, and its data, outlives the tab if `stays`. A failed sign-in changes nothing. */
  stay<Result>(stays: boolean, signIn: () => Promise<Result>): Promise<Result>;
  /** The number of the user's pending writes that are stored. */
  countWrites(userId: string): number;
  /** Whether closing the tab discards what is stored. */
  endsWithTab(): boolean;
  /** If the tab is a copy of another, removes the copied items, which belong to the original. Returns whether it is a copy. */
  emptyCopy(): Promise<boolean>;
}

const OURS = 'taskmesh.';
/** The client's keys for its tokens, for the id of a session that the server has ended, and for each user's pending writes. */
const SESSION = 'taskmesh.session';
const ENDED = 'taskmesh.ended';
const WRITES = 'taskmesh.writes.';
/** The prefix of the items that a provider sign-in needs on return, which is always in the same tab. */
const SIGN_IN = 'taskmesh.sign-in';

export function createConsoleStorage(): ConsoleStorage {
  const tab = usable(() => sessionStorage);
  const device = usable(() => localStorage);
  const { name, isCopy } = createTab(tab);
  const ours = () => keysOf(tab).filter((key) => key.startsWith(OURS));
  const waiting = tab.getItem(WRITES + tab.getItem(ENDED)?.split(' ')[0]);
  /** Where the session is, or was while writes wait for its user. Renewing it elsewhere would leave used tokens behind. */
  let place = (tab.getItem(SESSION) ?? waiting) === null ? device : tab;
  /** Where the sign-in that is under way will store its session. */
  let next: WebStorage | undefined;
  const placeOf = (key: string) => (key.startsWith(SIGN_IN) ? tab : place);
  /** Brings the user's pending writes along, unless the device has another session for them. */
  const moveTo = (to: WebStorage, { user }: { user: User }) => {
    [place, next] = [to, undefined];
    if (to === device) tab.removeItem(SESSION);
    const [from, key] = [to === tab ? device : tab, WRITES + user.id];
    const [moved, known] = [from.getItem(key), to.getItem(key)];
    if (moved === null || from.getItem(SESSION)?.includes(user.id)) return;
    to.setItem(key, known === null ? moved : `${known.slice(0, -1)},${moved.slice(1)}`); // arrays that are never empty
    from.removeItem(key);
  };
  return {
    /** The sessions of tabs are separate: none waits for another tab's lock. */
    get name() {
      return place === tab && next !== device ? OURS + name : undefined;
    },
    getItem: (key) => placeOf(key).getItem(key),
    setItem(key, value) {
      if (key === SESSION && next) moveTo(next, JSON.parse(value) as { user: User });
      placeOf(key).setItem(key, value);
      if (placeOf(key) === tab) tab.setItem(TAB, name);
    },
    removeItem(key) {
      placeOf(key).removeItem(key);
      if (ours().length === 1) tab.removeItem(TAB); // only the name is left
      // The last step of a sign-out. From now on, the tab follows the device's session.
      if (key.startsWith(WRITES) && (tab.getItem(SESSION) ?? tab.getItem(ENDED)) === null) place = device;
    },
    stay(stays, signIn) {
      next = stays ? device : tab;
      return signIn().finally(() => (next = undefined));
    },
    countWrites(userId) {
      try {
        return (JSON.parse(place.getItem(WRITES + userId) ?? '[]') as unknown[]).length;
      } catch {
        return 0; // the client does not read it, either
      }
    },
    // A storage in memory is a new one each time.
    endsWithTab: () => place === tab || usable(() => localStorage) !== device,
    async emptyCopy() {
      if (!(await isCopy())) return false;
      for (const key of ours()) tab.removeItem(key);
      place = device;
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
