import { backoffMs, type Backoff } from '@taskmesh/service';

/** To see whether the log takes changes of an owner again, one is enough. */
const PROBE = 1;
const MANY = 100;

/** From which change on an owner's changes wait, and how many of them are to be tried next. */
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
 * Owners of whom the event log does not take a change at the moment: what they do meanwhile waits behind it, and everybody
 * else goes on. Each is tried again by itself, with growing pauses.
 */
export function createHeldOwners({ backoff, monotonicMs }: { backoff: Backoff; monotonicMs: () => number }) {
  const held = new Map<string, Held>();
  return {
    size: () => held.size,
    has: (ownerId: string) => held.has(ownerId),
    /** The log did not take this change: it and what is behind it wait. */
    hold(ownerId: string, sequence: number): void {
      const failures = (held.get(ownerId)?.failures ?? 0) + 1;
      held.delete(ownerId); // to the end: those that were tried longest ago come first
      held.set(ownerId, {
        ownerId,
        sequence,
        most: PROBE,
        failures,
        dueMs: monotonicMs() + backoffMs(failures, backoff),
      });
    },
    /** The log took what is before: this one is next, and at once. */
    goOn(ownerId: string, sequence: number): void {
      held.set(ownerId, { ownerId, sequence, most: MANY, failures: 0, dueMs: monotonicMs() });
    },
    release: (ownerId: string) => void held.delete(ownerId),
    /** Those whose pause is over. */
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
