import { RESTORED, valueOf, type Columns, type Statement } from '@taskmesh/database';
import { ACCOUNT_TYPES, hasUsableHash, needsJudging } from './rules.ts';

const ROWS = `from ${RESTORED}.accounts r`;
/** Far from the end of the type, so that there is room for what comes. */
const LARGEST = 2_000_000_000;

/** Opens the cursor that `NEXT_KEYS` reads. */
export function keysToJudge(columns: Columns): Statement {
  const [email, key] = [valueOf(columns, 'email', 'text'), valueOf(columns, 'email_key', 'text')];
  return {
    name: 'adopt-keys-to-judge',
    text: `declare keys_to_judge no scroll cursor for
      select ${email} as email, ${key} as key ${ROWS} where ${needsJudging(columns)}`,
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
        insert into public.accounts (${Object.keys(ACCOUNT_TYPES).join(', ')}, password_version)
        select ${values.join(', ')}, case when ${version} between 1 and ${LARGEST} then ${version} else 1 end ${ROWS}
        returning password_hash
      )
      select count(*)::text as count, (count(*) filter (where password_hash = $1::text))::text as unusable from taken`,
  };
}

export const DROP_RESTORED: Statement = { name: 'adopt-drop-restored', text: `drop schema ${RESTORED} cascade` };

/** So that the first reads after the swap are planned with the truth. */
export const ANALYZE: Statement = { name: 'adopt-analyze', text: 'analyze public.accounts' };
