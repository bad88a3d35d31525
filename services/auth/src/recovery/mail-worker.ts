import { UndeliverableError, type Mailer } from '@taskmesh/mail';
import { type Backoff, backoffMs, type Clock, type Log, type Service } from '@taskmesh/service';
import type { Account } from '../accounts/account.entity.ts';
import type { AuditKind } from '../audit/audit.repository.ts';
import { createOpaqueToken } from '../opaque-token.ts';
import { TOKEN_LIFETIME_MINUTES, recoveryMail } from './recovery-mail.ts';
import type { RecoveryRequest } from './recovery-request.entity.ts';
import type { RecoveryRepository } from './recovery.repository.ts';

/** Longer than sending takes at the most: behind it, the instance that had claimed the mail is taken for dead. */
const LEASE_MS = 60_000;
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 5 * 60_000 };
/** Nobody waits longer than this for a recovery mail. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const POLL_MS = 1_000;

export interface MailWorker extends Service {
  /** There is something to send. */
  wake(): void;
  /** Resolves when nothing that is due is left. */
  drain(): Promise<void>;
}

export interface MailWorkerDeps {
  repository: RecoveryRepository;
  mailer: Mailer;
  publicUrl: string;
  clock: Clock;
  log: Log;
  /** Told about each attempt. */
  onAttempt?: (outcome: 'sent' | 'failed' | 'given-up') => void;
}

/**
 * Sends what is in the outbox, at least once. The outbox holds no token: each attempt makes its own, stored as a hash
 * before the mail leaves, so a mail that got out in spite of an error works, too.
 */
export function createMailWorker(deps: MailWorkerDeps): MailWorker {
  const { repository, mailer, publicUrl, clock, log, onAttempt } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let queued = false;
  let stopped = true;

  const drain = (): Promise<void> => {
    const next = running.then(async () => {
      queued = false;
      while (!stopped && (await sendOne()));
    });
    running = next.catch((error: unknown) => log.warn({ err: error }, 'recovery mails could not be looked at'));
    return next;
  };

  const wake = () => {
    if (stopped || queued) return;
    queued = true;
    drain().catch(() => undefined); // logged above
  };

  /** False when nothing is due. */
  const sendOne = async (): Promise<boolean> => {
    const now = clock.now();
    const id = await repository.claim(new Date(now), new Date(now + LEASE_MS));
    if (id === undefined) return false;
    const request = await repository.find(id);
    const account = request && (await repository.findAccountByKey(request.emailKey));
    if (request && account) await attempt(request, account);
    else await repository.remove(id);
    return true;
  };

  const attempt = async (request: RecoveryRequest, account: Account): Promise<void> => {
    const token = await storeToken(request, account);
    try {
      await mailer.send(recoveryMail({ to: account.email, token, publicUrl }));
    } catch (error) {
      await postpone(request, error);
      return;
    }
    onAttempt?.('sent');
    await finish(request, account);
    log.info({ accountId: account.id, requestId: request.requestId }, 'recovery mail sent');
  };

  const storeToken = async (request: RecoveryRequest, account: Account): Promise<string> => {
    const { token, hash } = createOpaqueToken();
    await repository.inTransaction((transaction) => {
      const createdAt = new Date(clock.now());
      const expiresAt = new Date(createdAt.getTime() + TOKEN_LIFETIME_MINUTES * 60_000);
      transaction.addToken({ hash, accountId: account.id, createdAt, expiresAt });
      if (request.attempts === 1) transaction.record(factOf(request, account, 'recovery.requested'));
      return Promise.resolve();
    });
    return token;
  };

  const finish = (request: RecoveryRequest, account: Account) =>
    repository.inTransaction(async (transaction) => {
      await transaction.removeRequest(request.id);
      transaction.record(factOf(request, account, 'recovery.mail_sent'));
    });

  const factOf = ({ ip, requestId }: RecoveryRequest, account: Account, kind: AuditKind) => ({
    kind,
    at: new Date(clock.now()),
    accountId: account.id,
    origin: { ip: ip ?? null, requestId },
  });

  const postpone = async ({ id, attempts, createdAt, requestId }: RecoveryRequest, error: unknown) => {
    const isHopeless = error instanceof UndeliverableError || clock.now() - createdAt.getTime() > GIVE_UP_AFTER_MS;
    if (isHopeless) {
      onAttempt?.('given-up');
      log.error({ err: error, requestId, attempts }, 'recovery mail given up');
      await repository.remove(id);
      return;
    }
    const nextAttemptAt = new Date(clock.now() + backoffMs(attempts, BACKOFF));
    await repository.postpone(id, nextAttemptAt);
    onAttempt?.('failed');
    log.warn({ err: error, requestId, attempts }, 'recovery mail not sent, it will be tried again');
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
      await running;
    },
    wake,
    drain,
  };
}
