import { backoffMs, type Backoff } from '@taskmesh/service';

/** Maximum number of a blocked owner's changes per attempt: few, because most attempts fail with the first. */
export const MAX_BLOCKED_CHANGES = 10;

/** An owner whose changes wait, starting with this sequence. */
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
    /** Call this when the log did not accept a change: it waits, with all later ones. */
    block(ownerId: string, sequence: number): void {
      const failures = (blocked.get(ownerId)?.failures ?? 0) + 1;
      blocked.delete(ownerId); // moves the owner to the end, so that those tried longest ago come first
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
