import { UndeliverableError, type Mail, type Mailer } from '@taskmesh/mail';
import { type Backoff, backoffMs, type Clock, type Log, type Service } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than sending can take: after this, the instance that claimed a mail is presumed dead. */
const LEASE_MS = 60_000;
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 5 * 60_000 };
/** A mail older than this is no longer useful. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const POLL_MS = 1_000;
/** How long `stop` waits for mails in progress. A mail that takes longer is sent again after the next start. */
const STOP_MS = 5_000;
/** Mails of one queue that are sent concurrently. */
const MAX_LANES = 8;

/** A mail waiting to be sent. */
export interface Letter {
  id: string;
  createdAt: Date;
  /** Includes the one in progress. */
  attempts: number;
  requestId: string;
}

/** A queue of letters. */
export interface Outbox<Waiting extends Letter> {
  /** Names the letters in the log. */
  what: string;
  /** Claims the letter that has been due the longest, until `until`, and returns its id. */
  claim(now: Date, until: Date): Promise<string | undefined>;
  find(id: string): Promise<Waiting | null>;
  /** The mail for this attempt, once everything it needs is stored; undefined when it must no longer be sent. */
  compose(letter: Waiting): Promise<Mail | undefined>;
  /** Removes a sent letter. */
  finish(letter: Waiting): Promise<unknown>;
  postpone(id: string, nextAttemptAt: Date): Promise<unknown>;
  remove(id: string): Promise<unknown>;
}

export interface MailWorker extends Service {
  /** Resolves once no letter is due. */
  drain(): Promise<void>;
}

export interface MailWorkerDeps<Waiting extends Letter> {
  outbox: Outbox<Waiting>;
  mailer: Mailer;
  clock: Clock;
  log: Log;
  onAttempt?: (outcome: 'sent' | 'failed' | 'given-up') => void;
}

/**
 * Sends the letters of an outbox, at least once. No letter holds a token: each attempt creates its own and stores the
 * hash before the mail is sent, so even a mail that went out despite an error has a valid token.
 */
export function createMailWorker<Waiting extends Letter>(deps: MailWorkerDeps<Waiting>): MailWorker {
  const { outbox, mailer, clock, log, onAttempt } = deps;
  const { what } = outbox;
  let timer: NodeJS.Timeout | undefined;
  const lanes = new Set<Promise<void>>();
  let stopped = true;

  const sendAll = async (): Promise<void> => {
    while (!stopped && (await sendOne()));
  };

  const openLane = (): Promise<void> => {
    const sending = sendAll();
    const lane = sending
      .catch((error: unknown) => log.warn({ err: error, what }, 'could not read the queue of mails'))
      .finally(() => lanes.delete(lane));
    lanes.add(lane);
    return sending;
  };

  const wake = () => {
    if (!stopped && lanes.size < MAX_LANES) openLane().catch(() => undefined); // logged above
  };

  /** Returns false when no letter is due. */
  const sendOne = async (): Promise<boolean> => {
    const now = clock.now();
    const id = await outbox.claim(new Date(now), new Date(now + LEASE_MS));
    if (id === undefined) return false;
    wake(); // so that the next letter does not wait for a slow server
    const letter = await outbox.find(id);
    if (letter) await attempt(letter);
    else await outbox.remove(id);
    return true;
  };

  const attempt = async (letter: Waiting): Promise<unknown> => {
    let mail: Mail | undefined;
    try {
      mail = await outbox.compose(letter);
      if (mail) await mailer.send(mail);
    } catch (error) {
      return postpone(letter, error);
    }
    if (!mail) return outbox.remove(letter.id);
    onAttempt?.('sent');
    await outbox.finish(letter);
    log.info({ requestId: letter.requestId }, `${what} sent`);
  };

  const postpone = async ({ id, attempts, createdAt, requestId }: Waiting, error: unknown) => {
    const isHopeless = error instanceof UndeliverableError || clock.now() - createdAt.getTime() > GIVE_UP_AFTER_MS;
    if (isHopeless) {
      onAttempt?.('given-up');
      log.error({ err: error, requestId, attempts }, `${what} given up`);
      await outbox.remove(id);
      return;
    }
    const nextAttemptAt = new Date(clock.now() + backoffMs(attempts, BACKOFF));
    await outbox.postpone(id, nextAttemptAt);
    onAttempt?.('failed');
    log.warn({ err: error, requestId, attempts }, `${what} not sent, it will be tried again`);
  };

  return {
    start() {
      stopped = false;
      timer = setInterval(wake, POLL_MS).unref();
      wake();
      return Promise.resolve();
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await Promise.race([Promise.all(lanes), sleep(STOP_MS, undefined, { ref: false })]);
    },
    async drain() {
      await openLane();
      await Promise.all(lanes);
    },
  };
}
