import { backoffMs, type Backoff } from '@taskmesh/service';

/** One change shows whether the log accepts the owner's changes again. */
const PROBE = 1;
const MANY = 100;

export interface Owed {
  ownerId: string;
  sequence: number;
  most: number;
}

interface Held extends Owed {
  failures: number;
  dueMs: number;
}

/**
 * Owners with a change that the event log does not accept at the moment: their later changes wait behind it, while all
 * other owners continue. Each owner is retried separately, with growing pauses.
 */
export function createHeldOwners({ backoff, monotonicMs }: { backoff: Backoff; monotonicMs: () => number }) {
  const held = new Map<string, Held>();
  return {
    size: () => held.size,
    has: (ownerId: string) => held.has(ownerId),
    /** The log did not accept this change: it waits, with all later ones. */
    hold(ownerId: string, sequence: number): void {
      const failures = (held.get(ownerId)?.failures ?? 0) + 1;
      held.delete(ownerId); // moves it to the end, so that owners tried longest ago come first
      held.set(ownerId, {
        ownerId,
        sequence,
        most: PROBE,
        failures,
        dueMs: monotonicMs() + backoffMs(failures, backoff),
      });
    },
    /** The log accepted all earlier changes: try this one next, at once. */
    goOn(ownerId: string, sequence: number): void {
      held.set(ownerId, { ownerId, sequence, most: MANY, failures: 0, dueMs: monotonicMs() });
    },
    /** An older change has appeared, such as a dead letter that is replayed: it is tried first. */
    goBack(ownerId: string, sequence: number): void {
      const each = held.get(ownerId);
      if (each) each.sequence = Math.min(each.sequence, sequence);
    },
    release: (ownerId: string) => void held.delete(ownerId),
    due(most: number): Owed[] {
      const now = monotonicMs();
      const due: Owed[] = [];
      for (const each of held.values()) {
        if (due.length === most) break;
        if (each.dueMs <= now) due.push(each);
      }
      return due;
    },
    clear: () => held.clear(),
  };
}
