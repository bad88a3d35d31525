import { backoffMs, type Log, type Service } from '@taskmesh/service';
import { outside } from '@taskmesh/telemetry';

const BACKOFF = { firstMs: 1_000, longestMs: 30_000 };
/** What is kept for a while ends some time. */
const LOOK_EVERY_MS = 60_000;

export interface CrashRecovery extends Service {
  /** To be called when something was left half done. */
  wake(): void;
}

/**
 * Settles interrupted restores and removes what is kept no longer: at the start, whenever it is told that something was
 * left, and every minute; when that fails (a server or a service is away), again and again in the background, because
 * until then stores may be closed or a dead database may fill the disk.
 */
export function createCrashRecovery({ settle, log }: { settle: () => Promise<void>; log: Log }): CrashRecovery {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  const attempt = async (failures: number): Promise<void> => {
    try {
      await settle();
      tryIn(LOOK_EVERY_MS, 0);
    } catch (error) {
      const retryInMs = backoffMs(failures + 1, BACKOFF);
      log.warn({ err: error, retryInMs }, 'interrupted restores not settled yet');
      tryIn(retryInMs, failures + 1);
    }
  };
  const tryIn = (waitMs: number, failures: number) => {
    clearTimeout(timer);
    if (stopped) return;
    timer = outside(() => setTimeout(() => void (running = running.then(() => attempt(failures))), waitMs).unref());
  };

  return {
    async start() {
      running = attempt(0);
      await running;
    },
    wake: () => tryIn(BACKOFF.firstMs, 0),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
