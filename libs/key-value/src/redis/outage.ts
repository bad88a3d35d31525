import type { Log } from '@taskmesh/service';
import { messageOf, refusalOf } from './refusal.ts';

/** Logs once that Redis is unavailable and once that it is back, whatever calls and reconnects lie between. */
export interface Outage {
  began(reason: unknown): void;
  ended(): void;
  /** A command that Redis answered with an error; each kind is logged once. */
  refused(error: unknown): void;
}

export function createOutage(log: Log): Outage {
  const toldKinds = new Set<string>();
  let away = false;
  return {
    began(reason) {
      if (away) return;
      away = true;
      log.warn({ reason: refusalOf(reason).reason }, 'Redis does not answer; going on without it');
    },
    ended() {
      if (!away) return;
      away = false;
      log.info('Redis answers again');
    },
    refused(error) {
      const reason = messageOf(error);
      const kind = reason.split(' ', 1)[0] ?? '';
      if (toldKinds.has(kind)) return;
      toldKinds.add(kind);
      log.warn({ reason }, 'Redis refuses a command');
    },
  };
}
