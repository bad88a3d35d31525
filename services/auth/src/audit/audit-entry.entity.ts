import { defineEntity, p } from '@mikro-orm/core';

/** One fact about an account. The table refuses changes: it only grows. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    id: p.bigint('string').primary(),
    at: p.datetime(3),
    kind: p.text(),
    accountId: p.uuid().nullable(),
    sessionId: p.uuid().nullable(),
    ip: p.text().nullable(),
    requestId: p.text(),
  },
});
