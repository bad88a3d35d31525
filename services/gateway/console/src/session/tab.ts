/** The key of the tab's name, present while the tab stores anything. Copying a tab copies the name, too. */
export const TAB = 'taskmesh.tab';
/** Set only between two pages of the tab, so a copy of an open tab does not have it. */
const LEFT = 'taskmesh.tab.left';

type WebStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * Browsers copy the sessionStorage of a duplicated tab. If both tabs used the same refresh token, the server would end the
 * session of both; both would also send the pending writes. So each open page holds a lock with its name.
 */
export function createTab(kept: WebStorage) {
  /** A random name, unique to this page. */
  const name = crypto.getRandomValues(new Uint32Array(4)).join('-');
  const { locks } = navigator as Partial<Navigator>; // only with TLS or on localhost
  const refused = () => undefined; // sandboxed frames may not use locks
  locks?.request(`${TAB}.${name}`, () => new Promise<void>(() => {})).catch(refused);
  const hasLeft = kept.getItem(LEFT) !== null;
  kept.removeItem(LEFT);
  addEventListener('pagehide', () => {
    if (kept.getItem(TAB) !== null) kept.setItem(LEFT, '1');
  });
  addEventListener('pageshow', () => kept.removeItem(LEFT));
  return {
    name,
    /** Whether the tab was copied from another one that is still open. */
    async isCopy(): Promise<boolean> {
      const former = kept.getItem(TAB);
      if (former === null) return false;
      const { held = [] } = hasLeft ? {} : ((await locks?.query().catch(refused)) ?? {});
      // The browser releases the lock even if the page crashes, so a held lock proves that the original is open.
      if (held.some((lock) => lock.name === `${TAB}.${former}`)) return true;
      kept.setItem(TAB, name);
      return false;
    },
  };
}
