import type { Mail } from '@taskmesh/mail';
import type { Account } from '../accounts/account.entity.ts';
import type { AuditKind } from '../audit/audit-entry.entity.ts';
import type { CommonParts } from '../common-parts.ts';
import type { Outbox } from '../mails/mail-worker.ts';
import { createOpaqueToken } from '../opaque-token.ts';
import type { RecoveryRequest } from './recovery.entities.ts';
import type { RecoveryRepository } from './recovery.repository.ts';

const TOKEN_LIFETIME_MINUTES = 30;

export interface RecoveryOutboxDeps extends CommonParts {
  repository: RecoveryRepository;
  publicUrl: string;
}

/** Recovery mails. Whether the address has an account is checked only here, where no response time can reveal it. */
export function createRecoveryOutbox(deps: RecoveryOutboxDeps): Outbox<RecoveryRequest> {
  const { inTransaction, repository, accounts, publicUrl, clock } = deps;

  const accountAt = async ({ emailKey }: RecoveryRequest) => (await accounts.findByKey(emailKey))?.account;

  const factOf = ({ ip, requestId }: RecoveryRequest, account: Account, kind: AuditKind) => ({
    kind,
    at: new Date(clock.now()),
    accountId: account.id,
    origin: { ip: ip ?? null, requestId },
  });

  /** Undefined when the account's address has changed: readers of the former one must not get in. */
  const storeToken = (request: RecoveryRequest, account: Account): Promise<string | undefined> =>
    inTransaction(async (transaction) => {
      if ((await transaction.lockAccount(account.id))?.emailKey !== request.emailKey) return undefined;
      const { token, hash } = createOpaqueToken();
      const createdAt = new Date(clock.now());
      const expiresAt = new Date(createdAt.getTime() + TOKEN_LIFETIME_MINUTES * 60_000);
      transaction.addResetToken({ hash, accountId: account.id, createdAt, expiresAt });
      if (request.attempts === 1) transaction.record(factOf(request, account, 'recovery.requested'));
      return token;
    });

  return {
    what: 'recovery mail',
    ...repository.mails,
    async compose(request) {
      const account = await accountAt(request);
      const token = account && (await storeToken(request, account));
      return token && account ? recoveryMail({ to: account.email, token, publicUrl }) : undefined;
    },
    async finish(request) {
      const account = await accountAt(request);
      await inTransaction(async (transaction) => {
        await transaction.removeRecovery(request.id);
        if (account) transaction.record(factOf(request, account, 'recovery.mail_sent'));
      });
    },
  };
}

/** The token also has a line of its own, in case the link cannot be followed. After `#`, no server sees it. */
function recoveryMail({ to, token, publicUrl }: { to: string; token: string; publicUrl: string }): Mail {
  return {
    to,
    subject: 'Set a new Taskmesh password',
    text: [
      'Somebody, most likely you, asked for a new password of your Taskmesh account.',
      '',
      'Follow this link to choose one:',
      '',
      `${publicUrl}/reset-password#token=${token}`,
      '',
      'Or enter this token where you are asked for it:',
      '',
      token,
      '',
      `Both work once, for ${TOKEN_LIFETIME_MINUTES} minutes. If it was not you, there is nothing to do: your password stays as it is.`,
      '',
    ].join('\n'),
  };
}
