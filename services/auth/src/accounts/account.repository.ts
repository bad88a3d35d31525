import type { Database } from '@taskmesh/store';
import type { KnownToken, RequestOrigin } from '@taskmesh/internal-api';
import type { AuditEntry } from '../audit/audit-entry.entity.ts';
import type { LinkedIdentity } from '../oidc/oidc.entities.ts';
import type { PersonalToken } from '../personal-tokens/personal-token.entity.ts';
import type { NewSession } from '../sessions/new-session.ts';
import type { Account } from './account.entity.ts';
import * as statements from './account.statements.ts';
import { emailKey } from './email-key.ts';

/** An account with the data that logins need. */
export interface StoredAccount {
  account: Account;
  passwordHash: string;
  hasPassword: boolean;
  passwordVersion: number;
}

export interface NewAccount {
  account: Account;
  passwordHash: string;
  session: NewSession;
  origin: RequestOrigin;
}

/** A personal token, as its owner sees it. Times in RFC 3339. */
export interface OwnToken extends Pick<PersonalToken, 'id' | 'name'>, Record<'createdAt' | 'expiresAt', string> {
  scope: 'READ' | 'WRITE';
  /** Accurate to a minute. */
  lastUsedAt: string | null;
}

/** A linked identity, as its owner sees it. Times in RFC 3339. */
export type OwnIdentity = Pick<LinkedIdentity, 'id' | 'issuer' | 'email'> & Record<'createdAt' | 'lastUsedAt', string>;

/** An entry of the audit trail, as the account's owner sees it. The time is in RFC 3339. */
export type OwnEntry = Pick<AuditEntry, 'id' | 'kind' | 'sessionId' | 'ip'> & { at: string };

export type AccountRepository = ReturnType<typeof createAccountRepository>;

export function createAccountRepository(database: Database) {
  const findByKey = async (key: string): Promise<StoredAccount | undefined> => {
    const [row] = await database.run<AccountRow>('read', statements.FIND_ACCOUNT_BY_EMAIL, [key]);
    return row && storedAccountOf(row);
  };

  return {
    async findById(id: string): Promise<StoredAccount | undefined> {
      const [row] = await database.run<AccountRow>('read', statements.FIND_ACCOUNT, [id], id);
      return row && storedAccountOf(row);
    },

    findByKey,
    findByEmail: async (email: string): Promise<StoredAccount | undefined> => {
      const key = emailKey(email);
      return key === undefined ? undefined : findByKey(key);
    },

    /** The bcrypt hash of the highest cost among those imported from other systems; undefined once all of their users have signed in. */
    async findCostliestBcryptHash(): Promise<string | undefined> {
      type Row = Pick<StoredAccount, 'passwordHash'>;
      const [row] = await database.run<Row>('read', statements.FIND_COSTLIEST_BCRYPT_HASH, []);
      return row?.passwordHash;
    },

    /** Stores the account and its first session; false when the address is taken. */
    async insert({ account, passwordHash, session, origin }: NewAccount): Promise<boolean> {
      const { email, name, emailConfirmedAt } = account;
      const values = [
        ...session.values(origin, 'account.created'),
        ...[email, emailKey(email), name, passwordHash, emailConfirmedAt],
      ];
      return (await database.run('write', statements.SIGN_UP, values)).length > 0;
    },

    /** Stores a new hash of the same password. Does nothing if the password has changed since. */
    async replaceHash(id: string, { from, to }: { from: string; to: string }): Promise<void> {
      await database.run('write', statements.REPLACE_HASH, [id, from, to], id);
    },

    /** A usable personal token. */
    async findToken(hash: string, now: Date): Promise<KnownToken | null> {
      const [token] = await database.run<KnownToken>('read', statements.FIND_TOKEN, [hash, now]);
      return token ?? null;
    },

    /** The usable tokens, newest first. */
    listTokens: (id: string, now: Date) => database.run<OwnToken>('read', statements.TOKENS_OF_ACCOUNT, [id, now], id),
    /** Newest first. */
    listIdentities: (id: string) => database.run<OwnIdentity>('read', statements.IDENTITIES_OF_ACCOUNT, [id], id),
    /** Entries of the audit trail, newest first, with ids below `after`. */
    listEntries: (id: string, limit: number, after: string | null) =>
      database.run<OwnEntry>('read', statements.ENTRIES_OF_ACCOUNT, [id, limit, after], id),

    /** The IPs of the newest sign-ins to the account with this address; empty if there is no such account. */
    async signInIps(key: string): Promise<string[]> {
      const rows = await database.run<{ ip: string | null }>('read', statements.SIGN_IN_IPS, [key]);
      return rows.flatMap(({ ip }) => ip ?? []);
    },

    /** Adds an entry to the audit trail. There may be no account for `key`. */
    async recordFailedLogin(key: string, now: Date, { ip, requestId }: RequestOrigin): Promise<void> {
      await database.run('write', statements.RECORD_FAILED_LOGIN, [now, key, ip, requestId]);
    },
  };
}

type AccountRow = Omit<Account, 'emailConfirmedAt'> & Omit<StoredAccount, 'account'> & { confirmedMs: number };

function storedAccountOf({ id, email, name, confirmedMs, ...login }: AccountRow): StoredAccount {
  return { account: { id, email, name, emailConfirmedAt: new Date(confirmedMs) }, ...login };
}
