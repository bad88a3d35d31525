import { RESTORED, valueOf, type Columns, type RestoredSchema, type Statement } from '@taskmesh/database';
import { ACCOUNT_TYPES, hasUsableHash, LARGEST_VERSION, needsJudging } from './rules.ts';

/** Of a dump from anywhere. */
export const TAKEN_COLUMNS = [...Object.keys(ACCOUNT_TYPES), 'password_version'];

/** Accounts as they were loaded, or as they are in the store by now. */
export interface Accounts {
  schema: RestoredSchema;
  columns: Columns;
}

/** Opens the cursor that `NEXT_KEYS` reads. */
export function keysToJudge({ schema, columns }: Accounts): Statement {
  const [email, key] = [valueOf(columns, 'email', 'text'), valueOf(columns, 'email_key', 'text')];
  return {
    name: 'adopt-keys-to-judge',
    text: `declare keys_to_judge no scroll cursor for
      select ${email} as email, ${key} as key from ${schema}.accounts r where ${needsJudging(columns)}`,
  };
}

export const NEXT_KEYS: Statement = { name: 'adopt-next-keys', text: 'fetch 1000 from keys_to_judge' };

/** $1: the hash of nobody, for accounts with one that is of no use. A password's version that is missing or of no use begins anew. */
export function takeOver(columns: Columns): Statement {
  const version = columns.has('password_version') ? valueOf(columns, 'password_version', 'integer') : 'null';
  const values = Object.entries(ACCOUNT_TYPES).map(([name, type]) => {
    const value = valueOf(columns, name, type);
    return name === 'password_hash' ? `case when ${hasUsableHash(columns)} then ${value} else $1::text end` : value;
  });
  return {
    name: 'adopt-take-over',
    text: `
      with taken as (
        insert into public.accounts (${TAKEN_COLUMNS.join(', ')})
        select ${values.join(', ')}, case when ${version} between 1 and ${LARGEST_VERSION} then ${version} else 1 end from ${RESTORED}.accounts r
        returning password_hash
      )
      select count(*)::text as count, (count(*) filter (where password_hash = $1::text))::text as unusable from taken`,
  };
}

/** $1: the hash of nobody, for accounts in the store with one that is of no use. */
export function closeUnusable(columns: Columns): Statement {
  return {
    name: 'adopt-close-unusable',
    text: `
      with closed as (
        update public.accounts r set password_hash = $1::text where not ${hasUsableHash(columns)} returning 1
      )
      select count(*)::text as unusable from closed`,
  };
}

export const DROP_RESTORED: Statement = { name: 'adopt-drop-restored', text: `drop schema ${RESTORED} cascade` };

/** So that the first reads after the swap are planned with the truth. */
export const ANALYZE: Statement = { name: 'adopt-analyze', text: 'analyze public.accounts' };
