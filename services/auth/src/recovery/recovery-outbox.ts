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

/** Recovery mails. Whether there is an account with the address is only looked at here, where nobody waits for the answer. */
export function createRecoveryOutbox(deps: RecoveryOutboxDeps): Outbox<RecoveryRequest> {
  const { repository, publicUrl, clock } = deps;

  const factOf = ({ ip, requestId }: RecoveryRequest, account: Account, kind: AuditKind) => ({
    kind,
    at: new Date(clock.now()),
    accountId: account.id,
    origin: { ip: ip ?? null, requestId },
  });

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

  return {
    what: 'recovery mail',
    claim: repository.claim,
    find: repository.find,
    async compose(request) {
      const account = await repository.findAccountByKey(request.emailKey);
      if (!account) return undefined;
      return recoveryMail({ to: account.email, token: await storeToken(request, account), publicUrl });
    },
    async finish(request) {
      const account = await repository.findAccountByKey(request.emailKey);
      await repository.inTransaction(async (transaction) => {
        await transaction.removeRequest(request.id);
        if (account) transaction.record(factOf(request, account, 'recovery.mail_sent'));
      });
    },
    postpone: repository.postpone,
    remove: repository.remove,
  };
}
