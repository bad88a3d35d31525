import type { Database } from '@taskmesh/store';
import type { SubmittedCode } from '../accounts/account-transaction.repository.ts';
import {
  LinkedIdentityEntity,
  PendingSignInEntity,
  SignInCodeEntity,
  type LinkedIdentity,
  type PendingSignIn,
  type SignInCode,
} from './oidc.entities.ts';
import { CONSUME_PENDING_SIGN_IN } from '../accounts/account.statements.ts';

export function createOidcRepository(database: Database) {
  return {
    addPending: (pending: PendingSignIn) => database.retry((em) => em.upsert(PendingSignInEntity, pending)),
    /** Deletes and returns the pending sign-in, so that only one caller gets it. */
    async consumePending(hash: string, now: Date) {
      type Row = Pick<PendingSignIn, 'challenge' | 'returnTo'>;
      const [row] = await database.run<Row>('write', CONSUME_PENDING_SIGN_IN, [hash, now]);
      return row;
    },
    addCode: (code: SignInCode) => database.retry((em) => em.upsert(SignInCodeEntity, code)),
    findCode: (submitted: SubmittedCode, now: Date) =>
      database.retry((em) => em.findOne(SignInCodeEntity, { ...submitted, expiresAt: { $gt: now } })),
    findLinked: ({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>) =>
      database.retry((em) => em.findOne(LinkedIdentityEntity, { issuer, subject })),
  };
}
