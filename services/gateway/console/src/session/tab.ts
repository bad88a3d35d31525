/** Where a tab has its name, while it keeps anything. A copy of the tab has it, too. */
export const TAB = 'taskmesh.tab';
/** Is there between a page of the tab and the next one, and so not in what was copied from a tab that is open. */
const LEFT = 'taskmesh.tab.left';

type WebStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface Tab {
  /** This page's, which no other has. */
  name: string;
  /** Whether the tab was copied from another one that is still open. */
  isCopy(): Promise<boolean>;
}

/**
 * Browsers copy what a tab keeps when it is duplicated. If both went on with the same refresh token, the server would end the
 * session for both, and both would send what waits. So each page holds a lock of its name for as long as it is open.
 */
export function createTab(kept: WebStorage): Tab {
  const name = crypto.getRandomValues(new Uint32Array(4)).join('-');
  const { locks } = navigator as Partial<Navigator>; // only over TLS and on localhost
  const refused = () => undefined; // as in sandboxed frames
  locks?.request(`${TAB}.${name}`, () => new Promise<void>(() => {})).catch(refused);
  const hasLeft = kept.getItem(LEFT) !== null;
  kept.removeItem(LEFT);
  addEventListener('pagehide', () => {
    if (kept.getItem(TAB) !== null) kept.setItem(LEFT, '1');
  });
  addEventListener('pageshow', () => kept.removeItem(LEFT));
  return {
    name,
    async isCopy() {
      const former = kept.getItem(TAB);
      if (former === null) return false;
      const { held = [] } = hasLeft ? {} : ((await locks?.query().catch(refused)) ?? {});
      // After a crash, too, no page has the name any more.
      if (held.some((lock) => lock.name === `${TAB}.${former}`)) return true;
      kept.setItem(TAB, name);
      return false;
    },
  };
}
