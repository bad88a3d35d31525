import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { TokenScope } from '@taskmesh/identity';
import { accountOf } from '../accounts/account.entity.ts';

/** A token that a user created for a program. Ended tokens are deleted. */
export const PersonalTokenEntity = defineEntity({
  name: 'PersonalToken',
  tableName: 'personal_tokens',
  checks: [{ name: 'personal_tokens_scope_check', expression: `scope in ('read', 'write')` }],
  properties: {
    id: p.uuid().primary(),
    accountId: () => accountOf('personal_tokens'),
    name: p.text(),
    scope: p.text().$type<TokenScope>(),
    /** SHA-256 of the token. */
    hash: p.text().unique('personal_tokens_hash_key').hidden(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3).index('personal_tokens_expires_at'),
    /** Accurate to a minute. */
    lastUsedAt: p.datetime(3).nullable(),
  },
});

export type PersonalToken = InferEntity<typeof PersonalTokenEntity>;
