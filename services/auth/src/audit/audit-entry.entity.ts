import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** All kinds of entries. They contain no secrets and no e-mail addresses, which can be looked up by account id. */
export type AuditKind =
  | 'account.created'
  /** The only entry that remains of a deleted account. */
  | 'account.deleted'
  | 'session.opened'
  | 'session.refreshed'
  | 'session.ended'
  | 'session.refresh_token_reused'
  | 'login.failed'
  | 'recovery.requested'
  | 'recovery.mail_sent'
  | 'password.reset'
  | 'password.changed'
  | 'name.changed'
  | 'email.change_requested'
  | 'email.changed'
  | 'identity.linked'
  | 'identity.unlinked'
  /** `sessionId` is the token's id. */
  | 'token.created'
  | 'token.ended';

/** A fact about an account. The table is append-only. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  indexes: [
    { name: 'audit_log_account', properties: ['accountId', 'id'] },
    {
      name: 'audit_log_sign_ins',
      properties: ['accountId', 'id'],
      where: { kind: { $in: ['account.created', 'session.opened'] } },
    },
    { name: 'audit_log_frequent', properties: ['id'], where: { kind: { $in: ['login.failed', 'session.refreshed'] } } },
  ],
  triggers: [
    {
      name: 'audit_log_only_grows',
      timing: 'before',
      events: ['update', 'delete', 'truncate'],
      forEach: 'statement',
      expression: `
        create trigger audit_log_only_grows before update or delete or truncate on audit_log
        for each statement execute function audit_log_only_grows()`,
    },
  ],
  properties: {
    id: p.bigint('string').primary().autoincrement().generated('identity'),
    at: p.datetime(3),
    kind: p.text(),
    accountId: p.uuid().nullable(),
    sessionId: p.uuid().nullable(),
    ip: p.text().nullable(),
    requestId: p.text(),
  },
});

export type AuditEntry = InferEntity<typeof AuditEntryEntity>;
