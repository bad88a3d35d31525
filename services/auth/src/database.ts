import { createDatabase, type Database, type StoreOptions } from '@taskmesh/database';
import { migrations } from '../migrations/index.ts';
import { AccountEntity } from './accounts/account.entity.ts';
import { AuditEntryEntity } from './audit/audit-entry.entity.ts';
import { AccountMailEntity } from './changes/account-mail.entity.ts';
import { EmailTokenEntity } from './changes/email-token.entity.ts';
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
  AuditEntryEntity,
];

/** Does not connect: the first statement does. */
export function createAuthDatabase(options: StoreOptions): Promise<Database> {
  return createDatabase({ name: 'auth', ...options, entities, migrations });
}
