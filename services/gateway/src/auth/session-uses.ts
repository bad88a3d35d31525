import type { AuthInternal } from '@taskmesh/internal-api';
import { createPeriodic, type Clock, type Log, type Service } from '@taskmesh/service';

const TELL_EVERY_MS = 10_000;
/** The most that is kept while auth is unavailable; further uses are dropped. */
const MOST_KEPT = 50_000;
const MOST_AT_ONCE = 5_000;

/** When sessions were last used here, which auth shows to their users. */
export interface SessionUses extends Service {
  note(sessionId: string): void;
}

export interface SessionUsesDeps {
  auth: Pick<AuthInternal, 'noteSessionUses'>;
  clock: Clock;
  log: Log;
}

/** Reports to auth in batches: no request waits for it, and many uses of one session are reported as one. */
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
    async start() {
      periodic.start({ afterPause: true });
    },
    stop: () => periodic.stop(),
  };
}
