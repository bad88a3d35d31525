import { forbidden, unauthenticated } from '@taskmesh/errors';
import type { Identity } from '@taskmesh/identity';

type User = Extract<Identity, { role: 'user' }>;

/** @throws AppError UNAUTHENTICATED for anybody who is not a logged-in user */
export function requireUser(identity: Identity): User {
  if (identity.role !== 'user') throw unauthenticated();
  return identity;
}

/** @throws AppError FORBIDDEN for users, UNAUTHENTICATED for the anonymous */
export function requireOperator(identity: Identity): void {
  if (identity.role === 'operator') return;
  throw identity.role === 'anonymous' ? unauthenticated('Operators only.') : forbidden('Operators only.');
}
