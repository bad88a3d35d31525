import { whileAway, type Database } from '@taskmesh/database';
import type { Clock, Log, Service } from '@taskmesh/service';
import { ResetTokenEntity } from './recovery/reset-token.entity.ts';
import { forgottenBefore } from './sessions/end-sessions.ts';
import { EndedSessionEntity } from './sessions/ended-session.entity.ts';
import { SessionEntity } from './sessions/session.entity.ts';

const EVERY_MS = 60_000;

export interface Housekeeping extends Service {
  /** Removes what counts no more: expired sessions with their refresh tokens, ended ones whose tokens are dead, old reset tokens. */
  sweep(): Promise<void>;
}

export function createHousekeeping(options: { database: Database; clock: Clock; log: Log }): Housekeeping {
  const { database, clock, log } = options;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const sweep = () =>
    whileAway({ kind: 'read' }, async () => {
      const past = { $lte: new Date(clock.now()) };
      await database.em().nativeDelete(EndedSessionEntity, { until: { $lte: forgottenBefore(clock.now()) } });
      await database.em().nativeDelete(SessionEntity, { expiresAt: past });
      await database.em().nativeDelete(ResetTokenEntity, { expiresAt: past });
    });

  return {
    sweep,
    start() {
      timer = setInterval(() => {
        running = sweep().catch((error: unknown) => log.warn({ err: error }, 'housekeeping failed'));
      }, EVERY_MS).unref();
      return Promise.resolve();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
