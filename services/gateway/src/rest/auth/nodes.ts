import type { AuditEntryNode, OpenSessionNode, PersonalTokenNode, ProfileNode } from '../operations.ts';
import type { AuditTrailBody, ProfileBody, SessionListBody, TokenListBody } from '../schemas/answers.ts';

/** Maps the graph's account types to REST's field names. */

export function profileOf({ id, email, name, emailConfirmedAt }: ProfileNode): ProfileBody {
  return { id, email, name, email_confirmed_at: emailConfirmedAt };
}

export function sessionOf(node: OpenSessionNode): SessionListBody['sessions'][number] {
  const { id, createdAt, lastUsedAt, ip, client, current } = node;
  return { id, created_at: createdAt, last_used_at: lastUsedAt, ip, client, current };
}

export function tokenOf(node: PersonalTokenNode): TokenListBody['tokens'][number] {
  const { id, name, scope, createdAt, expiresAt, lastUsedAt } = node;
  return {
    ...{ id, name, scope: scope === 'READ' ? 'read' : 'write' },
    ...{ created_at: createdAt, expires_at: expiresAt, last_used_at: lastUsedAt },
  };
}

export function trailEntryOf({ id, at, kind, sessionId, ip }: AuditEntryNode): AuditTrailBody['entries'][number] {
  return { id, at, kind, session_id: sessionId, ip };
}
