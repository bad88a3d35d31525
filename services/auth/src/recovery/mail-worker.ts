import { whileAway, type Database } from '@taskmesh/database';
import { UndeliverableError, type Mailer } from '@taskmesh/mail';
import { type Backoff, backoffMs, type Clock, type Log, type Service } from '@taskmesh/service';
import { AccountEntity, type Account } from '../accounts/account.entity.ts';
import { recordFact, type AuditKind } from '../audit/audit.ts';
import { createOpaqueToken } from '../opaque-token.ts';
import { TOKEN_LIFETIME_MINUTES, recoveryMail } from './recovery-mail.ts';
import { RecoveryRequestEntity, type RecoveryRequest } from './recovery-request.entity.ts';
import { CLAIM_REQUEST } from './recovery.statements.ts';
import { ResetTokenEntity } from './reset-token.entity.ts';

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

export interface MailWorkerOptions {
  database: Database;
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
export function createMailWorker(options: MailWorkerOptions): MailWorker {
  const { database, mailer, publicUrl, clock, log, onAttempt } = options;
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
    const values = [new Date(now), new Date(now + LEASE_MS)];
    const [claimed] = await database.run<{ id: string }>('write', CLAIM_REQUEST, values);
    if (!claimed) return false;
    const request = await whileAway({ kind: 'read' }, () => database.em().findOne(RecoveryRequestEntity, claimed.id));
    const account = request && (await accountOf(request));
    if (request && account) await attempt(request, account);
    else await forget(claimed.id);
    return true;
  };

  const accountOf = ({ emailKey }: RecoveryRequest) =>
    whileAway({ kind: 'read' }, () => database.em().findOne(AccountEntity, { emailKey }));

  const forget = (id: string) =>
    whileAway({ kind: 'read' }, () => database.em().nativeDelete(RecoveryRequestEntity, { id }));

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
    await whileAway({ kind: 'write' }, () =>
      database.em().transactional(async (em) => {
        const createdAt = new Date(clock.now());
        const expiresAt = new Date(createdAt.getTime() + TOKEN_LIFETIME_MINUTES * 60_000);
        em.persist(em.create(ResetTokenEntity, { hash, accountId: account.id, createdAt, expiresAt }));
        if (request.attempts === 1) recordFact(em, factOf(request, account, 'recovery.requested'));
      }),
    );
    return token;
  };

  const finish = (request: RecoveryRequest, account: Account) =>
    whileAway({ kind: 'write' }, () =>
      database.em().transactional(async (em) => {
        await em.nativeDelete(RecoveryRequestEntity, { id: request.id });
        recordFact(em, factOf(request, account, 'recovery.mail_sent'));
      }),
    );

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
      await forget(id);
      return;
    }
    const nextAttemptAt = new Date(clock.now() + backoffMs(attempts, BACKOFF));
    await whileAway({ kind: 'read' }, () =>
      database.em().nativeUpdate(RecoveryRequestEntity, { id }, { nextAttemptAt }),
    );
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
