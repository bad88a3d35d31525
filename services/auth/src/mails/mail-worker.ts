import { UndeliverableError, type Mail, type Mailer } from '@taskmesh/mail';
import { type Backoff, backoffMs, type Clock, type Log, type Service } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than sending can take: after this, the instance that claimed a mail is presumed dead. */
const LEASE_MS = 60_000;
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 5 * 60_000 };
/** A mail older than this is no longer useful. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const POLL_MS = 1_000;
/** How long `stop` waits for mails in progress. A mail that takes longer is sent again after the next start. */
const STOP_MS = 5_000;
/** Mails of one queue that are sent concurrently. */
const MAX_CONCURRENT_SENDS = 8;

/** A mail waiting to be sent. */
export interface QueuedMail {
  id: string;
  createdAt: Date;
  /** Includes the one in progress. */
  attempts: number;
  requestId: string;
}

/** A queue of mails. */
export interface Outbox<Queued extends QueuedMail> {
  /** Names the mails in the log. */
  what: string;
  /** Claims the mail that has been due the longest, until `until`, and returns its id. */
  claim(now: Date, until: Date): Promise<string | undefined>;
  find(id: string): Promise<Queued | null>;
  /** The mail for this attempt, once everything it needs is stored; undefined when it must no longer be sent. */
  compose(queued: Queued): Promise<Mail | undefined>;
  /** Removes a sent mail. */
  finish(queued: Queued): Promise<unknown>;
  postpone(id: string, nextAttemptAt: Date): Promise<unknown>;
  remove(id: string): Promise<unknown>;
}

export interface MailWorker extends Service {
  /** Resolves once no mail is due. */
  drain(): Promise<void>;
}

export interface MailWorkerDeps<Queued extends QueuedMail> {
  outbox: Outbox<Queued>;
  mailer: Mailer;
  clock: Clock;
  log: Log;
  onAttempt?: (outcome: 'sent' | 'failed' | 'given-up') => void;
}

/**
 * Sends the mails of an outbox, at least once. No queued mail holds a token: each attempt creates its own and stores the
 * hash before the mail is sent, so even a mail that went out despite an error has a valid token.
 */
export function createMailWorker<Queued extends QueuedMail>(deps: MailWorkerDeps<Queued>): MailWorker {
  const { outbox, mailer, clock, log, onAttempt } = deps;
  const { what } = outbox;
  let timer: NodeJS.Timeout | undefined;
  const senders = new Set<Promise<void>>();
  let isStopped = true;

  const sendAll = async (): Promise<void> => {
    while (!isStopped && (await sendOne()));
  };

  const startSender = (): Promise<void> => {
    const sending = sendAll();
    const sender = sending
      .catch((error: unknown) => log.warn({ err: error, what }, 'could not read the queue of mails'))
      .finally(() => senders.delete(sender));
    senders.add(sender);
    return sending;
  };

  const wake = () => {
    if (!isStopped && senders.size < MAX_CONCURRENT_SENDS) startSender().catch(() => undefined); // logged above
  };

  /** Returns false when no mail is due. */
  const sendOne = async (): Promise<boolean> => {
    const now = clock.now();
    const id = await outbox.claim(new Date(now), new Date(now + LEASE_MS));
    if (id === undefined) return false;
    wake(); // so that the next mail does not wait for a slow server
    const queued = await outbox.find(id);
    if (queued) await attempt(queued);
    else await outbox.remove(id);
    return true;
  };

  const attempt = async (queued: Queued): Promise<unknown> => {
    let mail: Mail | undefined;
    try {
      mail = await outbox.compose(queued);
      if (mail) await mailer.send(mail);
    } catch (error) {
      return postpone(queued, error);
    }
    if (!mail) return outbox.remove(queued.id);
    onAttempt?.('sent');
    await outbox.finish(queued);
    log.info({ requestId: queued.requestId }, `${what} sent`);
  };

  const postpone = async ({ id, attempts, createdAt, requestId }: Queued, error: unknown) => {
    const shouldGiveUp = error instanceof UndeliverableError || clock.now() - createdAt.getTime() > GIVE_UP_AFTER_MS;
    if (shouldGiveUp) {
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
      isStopped = false;
      timer = setInterval(wake, POLL_MS).unref();
      wake();
      return Promise.resolve();
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await Promise.race([Promise.all(senders), sleep(STOP_MS, undefined, { ref: false })]);
    },
    async drain() {
      await startSender();
      await Promise.all(senders);
    },
  };
}
