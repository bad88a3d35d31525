import type { Clock } from '@taskmesh/service';
import type { Account } from '../accounts/account.entity.ts';
import type { AuditKind } from '../audit/audit.repository.ts';
import type { Outbox } from '../mails/mail-worker.ts';
import { createOpaqueToken } from '../opaque-token.ts';
import { TOKEN_LIFETIME_MINUTES, recoveryMail } from './recovery-mail.ts';
import type { RecoveryRequest } from './recovery-request.entity.ts';
import type { RecoveryRepository } from './recovery.repository.ts';

export interface RecoveryOutboxDeps {
  repository: RecoveryRepository;
  publicUrl: string;
  clock: Clock;
}

/** Recovery mails. Whether the address has an account is checked only here, where no response time can reveal it. */
export function createRecoveryOutbox(deps: RecoveryOutboxDeps): Outbox<RecoveryRequest> {
  const { repository, publicUrl, clock } = deps;

  const factOf = ({ ip, requestId }: RecoveryRequest, account: Account, kind: AuditKind) => ({
    kind,
    at: new Date(clock.now()),
    accountId: account.id,
    origin: { ip: ip ?? null, requestId },
  });

  /** Undefined when the account's address has changed: readers of the former one must not get in. */
  const storeToken = (request: RecoveryRequest, account: Account): Promise<string | undefined> =>
    repository.inTransaction(async (transaction) => {
      if ((await transaction.lockAccount(account.id))?.emailKey !== request.emailKey) return undefined;
      const { token, hash } = createOpaqueToken();
      const createdAt = new Date(clock.now());
      const expiresAt = new Date(createdAt.getTime() + TOKEN_LIFETIME_MINUTES * 60_000);
      transaction.addToken({ hash, accountId: account.id, createdAt, expiresAt });
      if (request.attempts === 1) transaction.record(factOf(request, account, 'recovery.requested'));
      return token;
    });

  return {
    what: 'recovery mail',
    ...repository.mails,
    async compose(request) {
      const account = await repository.findAccountByKey(request.emailKey);
      const token = account && (await storeToken(request, account));
      return token && account ? recoveryMail({ to: account.email, token, publicUrl }) : undefined;
    },
    async finish(request) {
      const account = await repository.findAccountByKey(request.emailKey);
      await repository.inTransaction(async (transaction) => {
        await transaction.removeRequest(request.id);
        if (account) transaction.record(factOf(request, account, 'recovery.mail_sent'));
      });
    },
  };
}
