import { createDatabase, type Database, type StoreOptions } from '@taskmesh/store';
import { migrations } from '../migrations/index.ts';
import { AccountLogEntryEntity, AccountLogStateEntity } from './account-log/account-log.entity.ts';
import { AccountEntity } from './accounts/account.entity.ts';
import { AuditEntryEntity } from './audit/audit-entry.entity.ts';
import { AccountMailEntity } from './changes/account-mail.entity.ts';
import { EmailTokenEntity } from './changes/email-token.entity.ts';
import { LinkedIdentityEntity } from './oidc/linked-identity.entity.ts';
import { PendingSignInEntity } from './oidc/pending-sign-in.entity.ts';
import { SignInCodeEntity } from './oidc/sign-in-code.entity.ts';
import { PersonalTokenEntity } from './personal-tokens/personal-token.entity.ts';
import { RecoveryRequestEntity } from './recovery/recovery-request.entity.ts';
import { ResetTokenEntity } from './recovery/reset-token.entity.ts';
import { EndedSessionCounterEntity, EndedSessionEntity } from './sessions/ended-session.entity.ts';
import { RefreshTokenEntity } from './sessions/refresh-token.entity.ts';
import { SessionEntity } from './sessions/session.entity.ts';

const entities = [
  AccountEntity,
  SessionEntity,
  RefreshTokenEntity,
  EndedSessionEntity,
  EndedSessionCounterEntity,
  RecoveryRequestEntity,
  ResetTokenEntity,
  AccountMailEntity,
  EmailTokenEntity,
  PersonalTokenEntity,
  LinkedIdentityEntity,
  PendingSignInEntity,
  SignInCodeEntity,
  AuditEntryEntity,
  AccountLogEntryEntity,
  AccountLogStateEntity,
];

/** Does not connect: the first statement does. */
export function createAuthDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'auth', ...options, entities, migrations });
}
