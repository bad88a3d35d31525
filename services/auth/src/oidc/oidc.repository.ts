import type { Database, SharedDatabase } from '@taskmesh/store';
import type { GivenCode } from '../accounts/account-transaction.repository.ts';
import {
  LinkedIdentityEntity,
  PendingSignInEntity,
  SignInCodeEntity,
  type LinkedIdentity,
  type PendingSignIn,
  type SignInCode,
} from './oidc.entities.ts';
import { IDENTITIES_OF_ACCOUNT, TAKE_PENDING } from '../accounts/account.statements.ts';

/** As its owner sees it. Times in RFC 3339. */
export interface OwnIdentity {
  id: string;
  issuer: string;
  email: string;
  createdAt: string;
  lastUsedAt: string;
}

export type OidcRepository = ReturnType<typeof createOidcRepository>;

export function createOidcRepository(database: Database & SharedDatabase) {
  return {
    addPending: (pending: PendingSignIn) => database.retry((em) => em.upsert(PendingSignInEntity, pending)),
    /** Returns it once, to one caller. */
    async takePending(hash: string, now: Date): Promise<Pick<PendingSignIn, 'challenge' | 'returnTo'> | undefined> {
      const [row] = await database.run<{ challenge: string; return_to: string }>('write', TAKE_PENDING, [hash, now]);
      return row && { challenge: row.challenge, returnTo: row.return_to };
    },
    addCode: (code: SignInCode) => database.retry((em) => em.upsert(SignInCodeEntity, code)),
    findCode: (given: GivenCode, now: Date) =>
      database.retry((em) => em.findOne(SignInCodeEntity, { ...given, expiresAt: { $gt: now } })),
    findLinked: ({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>) =>
      database.retry((em) => em.findOne(LinkedIdentityEntity, { issuer, subject })),
    /** Newest first. */
    list: (accountId: string) => database.run<OwnIdentity>('read', IDENTITIES_OF_ACCOUNT, [accountId], accountId),
  };
}
