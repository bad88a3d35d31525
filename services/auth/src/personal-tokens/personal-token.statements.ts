import type { Statement } from '@taskmesh/store';

/** $1 hash, $2 now. Times are in milliseconds. */
export const FIND_TOKEN: Statement = {
  name: 'auth-find-personal-token',
  text: `
    select token.id, token.scope, account.id as user_id, account.email,
      extract(epoch from token.created_at) * 1000 as created_ms, extract(epoch from token.expires_at) * 1000 as expires_ms
    from personal_tokens token join accounts account on account.id = token.account_id
    where token.hash = $1 and token.expires_at > $2::timestamptz`,
};
