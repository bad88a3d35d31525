import { LockMode, type EntityManager } from '@mikro-orm/core';
import { transactionsOf, type Database } from '@taskmesh/store';
import { AccountEntity } from '../accounts/account.entity.ts';
import { sessionTransaction } from '../sessions/session.repository.ts';
import {
  LinkedIdentityEntity,
  PendingSignInEntity,
  SignInCodeEntity,
  type LinkedIdentity,
  type PendingSignIn,
  type SignInCode,
} from './oidc.entities.ts';
import { TAKE_PENDING } from '../accounts/account.statements.ts';

export type OidcRepository = ReturnType<typeof createOidcRepository>;
export type OidcTransaction = ReturnType<typeof oidcTransaction>;

/** Identifies a code. */
export interface GivenCode {
  hash: string;
  challenge: string;
}

export interface NewAccount {
  id: string;
  email: string;
  emailKey: string;
  name: string;
  passwordHash: string;
  now: Date;
}

export function createOidcRepository(database: Database) {
  return {
    inTransaction: transactionsOf(database, oidcTransaction),

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
    list: (accountId: string) =>
      database.retry((em) =>
        em.find(LinkedIdentityEntity, { accountId }, { orderBy: { createdAt: 'desc', id: 'desc' } }),
      ),
  };
}

function oidcTransaction(em: EntityManager) {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  return {
    /** A simultaneous user of the code waits, and then finds it gone. */
    lockCode: (given: GivenCode, now: Date) =>
      em.findOne(SignInCodeEntity, { ...given, expiresAt: { $gt: now } }, locked),
    removeCode: (code: SignInCode): unknown => em.remove(code),
    findLinked: ({ issuer, subject }: SignInCode) => em.findOne(LinkedIdentityEntity, { issuer, subject }),
    ...sessionTransaction(em),
    /** The current state; null if it was removed. */
    reread: (linked: LinkedIdentity): Promise<LinkedIdentity | null> => em.refresh(linked),
    /** In the order of their ids. */
    lockLinked: (accountId: string) =>
      em.find(LinkedIdentityEntity, { accountId }, { ...locked, orderBy: { id: 'asc' } }),
    addLinked: (linked: LinkedIdentity): LinkedIdentity => {
      const created = em.create(LinkedIdentityEntity, linked);
      em.persist(created);
      return created;
    },
    removeLinked: (linked: LinkedIdentity): unknown => em.remove(linked),
    /** Without a password. */
    addAccount: ({ now, ...account }: NewAccount) => {
      const times = { emailConfirmedAt: now, createdAt: now, updatedAt: now };
      const created = em.create(AccountEntity, { ...account, ...times, hasPassword: false, passwordVersion: 1 });
      em.persist(created);
      return created;
    },
  };
}
