import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

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
