import { backoffMs, type Backoff } from '@taskmesh/service';

/** How many changes of such an owner are tried at once: few, because most attempts fail with the first. */
export const MAX_OF_BLOCKED = 10;

/** An owner whose changes wait, from this one on. */
export interface BlockedOwner {
  ownerId: string;
  sequence: number;
}

interface Entry extends BlockedOwner {
  failures: number;
  dueMs: number;
}

/**
 * Owners with a change that the event log does not accept at the moment: their later changes wait behind it, while all
 * other owners continue. Each owner is retried separately, with growing pauses.
 */
export function createBlockedOwners({ backoff, monotonicMs }: { backoff: Backoff; monotonicMs: () => number }) {
  const blocked = new Map<string, Entry>();
  return {
    size: () => blocked.size,
    ids: () => [...blocked.keys()],
    /** The log did not accept this change: it waits, with all later ones. */
    block(ownerId: string, sequence: number): void {
      const failures = (blocked.get(ownerId)?.failures ?? 0) + 1;
      blocked.delete(ownerId); // moves it to the end, so that owners tried longest ago come first
      blocked.set(ownerId, { ownerId, sequence, failures, dueMs: monotonicMs() + backoffMs(failures, backoff) });
    },
    release: (ownerId: string) => void blocked.delete(ownerId),
    due(limit: number): BlockedOwner[] {
      const now = monotonicMs();
      return [...blocked.values()].filter(({ dueMs }) => dueMs <= now).slice(0, limit);
    },
    clear: () => blocked.clear(),
  };
}
