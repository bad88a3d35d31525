import type { Log, Service } from '@taskmesh/service';
import { outside } from '@taskmesh/telemetry';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** What is kept for a while ends some time. */
const LOOK_EVERY_MS = 60_000;

export interface Settler extends Service {
  /** To be called when something was left half done. */
  wake(): void;
}

/**
 * Settles interrupted restores and removes what is kept no longer: at the start, whenever it is told that something was
 * left, and every minute; when that fails (a server or a service is away), again and again in the background, because
 * until then stores may be closed or a dead database may fill the disk.
 */
export function createSettler({ settle, log }: { settle: () => Promise<void>; log: Log }): Settler {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  const attempt = async (pauseMs: number): Promise<void> => {
    try {
      await settle();
      tryIn(LOOK_EVERY_MS, FIRST_PAUSE_MS);
    } catch (error) {
      log.warn({ err: error, retryInMs: pauseMs }, 'interrupted restores not settled yet');
      tryIn(pauseMs, Math.min(pauseMs * 2, LONGEST_PAUSE_MS));
    }
  };
  const tryIn = (waitMs: number, nextPauseMs: number) => {
    clearTimeout(timer);
    if (stopped) return;
    timer = outside(() => setTimeout(() => void (running = running.then(() => attempt(nextPauseMs))), waitMs).unref());
  };

  return {
    async start() {
      running = attempt(FIRST_PAUSE_MS);
      await running;
    },
    wake: () => tryIn(FIRST_PAUSE_MS, FIRST_PAUSE_MS),
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
