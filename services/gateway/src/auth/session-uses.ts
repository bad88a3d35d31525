import type { AuthInternal } from '@taskmesh/internal-api';
import { createPeriodic, type Clock, type Log } from '@taskmesh/service';

const TELL_EVERY_MS = 10_000;
/** Kept while auth is away; what comes beyond that is not told. */
const MOST_KEPT = 50_000;
const MOST_AT_ONCE = 5_000;

/** When sessions were used here: auth shows people the last time of each. */
export interface SessionUses {
  note(sessionId: string): void;
  start(): void;
  stop(): Promise<void>;
}

export interface SessionUsesDeps {
  auth: Pick<AuthInternal, 'noteSessionUses'>;
  clock: Clock;
  log: Log;
}

/** Tells auth by and by, all that there was at once: no request waits for it, and who asks a thousand times is told once. */
export function createSessionUses({ auth, clock, log }: SessionUsesDeps): SessionUses {
  const untold = new Map<string, number>();

  const tell = async () => {
    while (untold.size > 0) {
      const uses = [...untold.entries()].slice(0, MOST_AT_ONCE).map(([sessionId, at]) => ({ sessionId, at }));
      await auth.noteSessionUses(uses);
      for (const { sessionId, at } of uses) if (untold.get(sessionId) === at) untold.delete(sessionId);
      if (uses.length < MOST_AT_ONCE) break;
    }
  };

  const periodic = createPeriodic({ everyMs: TELL_EVERY_MS, task: tell, what: 'telling when sessions were used', log });

  return {
    note(sessionId) {
      if (untold.size < MOST_KEPT || untold.has(sessionId)) untold.set(sessionId, clock.now());
    },
    start: () => periodic.start({ afterPause: true }),
    stop: () => periodic.stop(),
  };
}
