import { hash, verify } from '@node-rs/argon2';
import type { Pool } from 'pg';
import * as statements from './statements.ts';
import { newId } from './tasks.ts';
import type { Tokens } from './tokens.ts';

/** What Taskmesh uses: argon2id (2), 19 MiB, two passes, one lane. */
const HASHING = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const SESSION_MS = 3_600_000;

interface AccountRow {
  id: string;
  email: string;
  email_confirmed_at: string;
}

export interface Credentials {
  email: string;
  password: string;
}

/** Sign-up and login; undefined for wrong credentials. */
export function createAccounts(pool: Pool, tokens: Tokens) {
  const session = async ({ id, email, email_confirmed_at }: AccountRow) => ({
    access_token: await tokens.sign(id, email),
    user: { id, email, email_confirmed_at },
  });
  return {
    async signUp({ email, password, name }: Credentials & { name: string }) {
      const values = [newId(), email, name, await hash(password, HASHING), new Date().toISOString()];
      const { rows } = await pool.query<AccountRow>({ ...statements.SIGN_UP, values });
      return rows[0] && session(rows[0]);
    },
    async login({ email, password }: Credentials, origin: { ip: string; requestId: string }) {
      const { rows } = await pool.query<AccountRow & { password_hash: string; password_version: number }>({
        ...statements.FIND_ACCOUNT,
        values: [email],
      });
      const account = rows[0];
      if (!account || !(await verify(account.password_hash, password))) return undefined;
      const now = Date.now();
      const times = [new Date(now).toISOString(), new Date(now + SESSION_MS).toISOString()];
      const values = [newId(), account.id, ...times, origin.ip, origin.requestId, account.password_version];
      const [, opened] = await Promise.all([pool.query({ ...statements.OPEN_SESSION, values }), session(account)]);
      return opened;
    },
  };
}
