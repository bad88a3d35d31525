import { createDatabase, type Database, type StoreOptions } from '@taskmesh/store';
import { migrations } from '../migrations/index.ts';
import { AccountEntity } from './accounts/account.entity.ts';
import { AuditEntryEntity } from './audit/audit-entry.entity.ts';
import { AccountMailEntity, EmailTokenEntity } from './changes/change.entities.ts';
import { LinkedIdentityEntity, PendingSignInEntity, SignInCodeEntity } from './oidc/oidc.entities.ts';
import { PersonalTokenEntity } from './personal-tokens/personal-token.entity.ts';
import { RecoveryRequestEntity, ResetTokenEntity } from './recovery/recovery.entities.ts';
import { RefreshTokenEntity, SessionEntity } from './sessions/session.entities.ts';

const entities = [
  AccountEntity,
  SessionEntity,
  RefreshTokenEntity,
  RecoveryRequestEntity,
  ResetTokenEntity,
  AccountMailEntity,
  EmailTokenEntity,
  PersonalTokenEntity,
  LinkedIdentityEntity,
  PendingSignInEntity,
  SignInCodeEntity,
  AuditEntryEntity,
];

/** Does not connect: the first statement does. */
export function createAuthDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'auth', ...options, entities, migrations });
}
