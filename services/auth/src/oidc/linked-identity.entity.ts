import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { accountOf } from '../accounts/account.entity.ts';

/** A person at a provider who can sign in to an account here. */
export const LinkedIdentityEntity = defineEntity({
  name: 'LinkedIdentity',
  tableName: 'linked_identities',
  uniques: [{ name: 'linked_identities_issuer_subject_key', properties: ['issuer', 'subject'] }],
  properties: {
    id: p.uuid().primary(),
    accountId: () => accountOf('linked_identities'),
    issuer: p.text(),
    /** The provider's identifier of that person, which never changes. */
    subject: p.text(),
    /** The address that the provider vouched for when the identity was linked. */
    email: p.text(),
    createdAt: p.datetime(3),
    lastUsedAt: p.datetime(3),
  },
});

export type LinkedIdentity = InferEntity<typeof LinkedIdentityEntity>;
