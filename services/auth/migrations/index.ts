import { Accounts } from './0001-accounts.ts';
import { Recovery } from './0002-recovery.ts';
import { Audit } from './0003-audit.ts';
import { Retention } from './0004-retention.ts';
import { SessionOrigins } from './0005-session-origins.ts';
import { Changes } from './0006-changes.ts';
import { PersonalTokens } from './0007-personal-tokens.ts';
import { AccountLog } from './0008-account-log.ts';
import { OpenIdConnect } from './0009-openid-connect.ts';
import { PasswordsAndSessions } from './0011-passwords-and-sessions.ts';
import { RecoveriesByAddress } from './0012-recoveries-by-address.ts';
import { RefreshKeys } from './0013-refresh-keys.ts';
import { BcryptHashes } from './0014-bcrypt-hashes.ts';

/** In order. Never rename a released migration: databases store its name. */
export const migrations = [
  { name: '0001-accounts', class: Accounts },
  { name: '0002-recovery', class: Recovery },
  { name: '0003-audit', class: Audit },
  { name: '0004-retention', class: Retention },
  { name: '0005-session-origins', class: SessionOrigins },
  { name: '0006-changes', class: Changes },
  { name: '0007-personal-tokens', class: PersonalTokens },
  { name: '0008-account-log', class: AccountLog },
  { name: '0009-openid-connect', class: OpenIdConnect },
  { name: '0011-passwords-and-sessions', class: PasswordsAndSessions },
  { name: '0012-recoveries-by-address', class: RecoveriesByAddress },
  { name: '0013-refresh-keys', class: RefreshKeys },
  { name: '0014-bcrypt-hashes', class: BcryptHashes },
];
