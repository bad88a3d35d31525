import { ACCOUNTS_TOPIC } from '@taskmesh/contracts';
import type { EventLog, LogReader } from '@taskmesh/event-log';
import { createPeriodic, type Log, type Service } from '@taskmesh/service';
import type { createOwnerEraser } from './erase-owners.ts';
import type { createAccountLogReader } from './read-account-log.ts';

/** Finds entries that the event log lost or cannot deliver. */
const ASK_EVERY_MS = 2_000;
/** How often to check whether the remaining changes are published, so that they can be erased. */
const ERASE_EVERY_MS = 1_000;
const SOON = { firstMs: 20, longestMs: 2_000 };

export interface ClosedOwnersDeps {
  reader: ReturnType<typeof createAccountLogReader>;
  eraser: ReturnType<typeof createOwnerEraser>;
  eventLog: EventLog;
  log: Log;
}

export interface ClosedOwners extends Service {
  /** An owner was closed. */
  wake(): void;
  /** Since the account log was last read to its end. */
  readAgeMs(): number;
  /** Does at once what otherwise happens periodically. @throws when auth is unavailable */
  processAll(): Promise<void>;
}

/** Deletes everything that belongs to deleted accounts. All instances do this side by side; nothing is deleted twice. */
export function createClosedOwners({ reader, eraser, eventLog, log }: ClosedOwnersDeps): ClosedOwners {
  let records: LogReader | undefined;
  let readAt = performance.now();

  const listen = async (): Promise<void> => {
    await reader.catchUp();
    readAt = performance.now();
  };
  const what = { listen: 'reading the account log', erase: 'erasing what is left of deleted accounts' };
  const listening = createPeriodic({ everyMs: ASK_EVERY_MS, retry: SOON, task: listen, what: what.listen, log });
  const erasing = createPeriodic({ everyMs: ERASE_EVERY_MS, retry: SOON, task: eraser.run, what: what.erase, log });

  return {
    wake: erasing.soon,
    readAgeMs: () => performance.now() - readAt,
    async processAll() {
      await listen();
      await eraser.run();
    },
    async start() {
      records = eventLog.read(ACCOUNTS_TOPIC, () => listening.soon());
      listening.start();
      erasing.start();
    },
    async stop() {
      eraser.stop();
      await records?.stop();
      await listening.stop();
      await erasing.stop();
    },
  };
}
