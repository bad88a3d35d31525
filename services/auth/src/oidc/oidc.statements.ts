import type { Statement } from '@taskmesh/store';

/** $1 hash, $2 now. */
export const TAKE_PENDING: Statement = {
  name: 'auth-take-pending-sign-in',
  text: 'delete from pending_sign_ins where hash = $1 and expires_at > $2::timestamptz returning challenge, return_to',
};
