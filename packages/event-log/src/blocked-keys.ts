/** A key whose records wait, starting with the one of this number. */
export interface BlockedKey {
  key: string;
  sequence: number;
}

interface Entry extends BlockedKey {
  failures: number;
  dueMs: number;
}

export interface BlockedKeysOptions {
  /** How long a key waits after so many failures in a row, in milliseconds. */
  pauseMs: (failures: number) => number;
  /** @default performance.now */
  monotonicMs?: () => number;
}

/**
 * Keys with a record that the event log does not accept at the moment: their later records wait behind it, while all other
 * keys continue. Each key is retried separately, with growing pauses. There is no bound: `keys` and `due` read all that are blocked.
 */
export function createBlockedKeys({ pauseMs, monotonicMs = () => performance.now() }: BlockedKeysOptions) {
  const blocked = new Map<string, Entry>();
  return {
    size: () => blocked.size,
    keys: () => [...blocked.keys()],
    /** Call this when the log did not accept a record: it waits, with all later ones. */
    block(key: string, sequence: number): void {
      const failures = (blocked.get(key)?.failures ?? 0) + 1;
      blocked.delete(key); // moves the key to the end, so that those tried longest ago come first
      blocked.set(key, { key, sequence, failures, dueMs: monotonicMs() + pauseMs(failures) });
    },
    release: (key: string) => void blocked.delete(key),
    /** The keys whose pause is over, those tried longest ago first. */
    due(limit: number): BlockedKey[] {
      const now = monotonicMs();
      return [...blocked.values()].filter(({ dueMs }) => dueMs <= now).slice(0, limit);
    },
    clear: () => blocked.clear(),
  };
}
