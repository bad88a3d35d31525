import type {
  AuditEntryFragment,
  LinkedIdentityFragment,
  OpenSessionFragment,
  PersonalTokenFragment,
  ProfileFragment,
  SessionFragment,
} from '../operations.ts';
import type {
  AuditTrailBody,
  LinkedIdentityListBody,
  MessageBody,
  ProfileBody,
  SessionBody,
  SessionListBody,
  TokenListBody,
} from '../schemas/answers.ts';

/** Maps the graph's account types to REST's field names. */

export function profileOf({ id, email, name, emailConfirmedAt }: ProfileFragment): ProfileBody {
  return { id, email, name, email_confirmed_at: emailConfirmedAt };
}

export function sessionOf(node: OpenSessionFragment): SessionListBody['sessions'][number] {
  const { id, createdAt, lastUsedAt, ip, client, current } = node;
  return { id, created_at: createdAt, last_used_at: lastUsedAt, ip, client, current };
}

export function tokenOf(node: PersonalTokenFragment): TokenListBody['tokens'][number] {
  const { id, name, scope, createdAt, expiresAt, lastUsedAt } = node;
  return {
    ...{ id, name, scope: scope === 'READ' ? 'read' : 'write' },
    ...{ created_at: createdAt, expires_at: expiresAt, last_used_at: lastUsedAt },
  };
}

export function trailEntryOf({ id, at, kind, sessionId, ip }: AuditEntryFragment): AuditTrailBody['entries'][number] {
  return { id, at, kind, session_id: sessionId, ip };
}

export function linkedIdentityOf(node: LinkedIdentityFragment): LinkedIdentityListBody['identities'][number] {
  const { id, issuer, email, createdAt, lastUsedAt } = node;
  return { id, issuer, email, created_at: createdAt, last_used_at: lastUsedAt };
}

/** What opens a session answers. */
export function sessionAnswer({ session: { accessToken, refreshToken, user } }: { session: SessionFragment }) {
  const body: SessionBody = {
    access_token: accessToken,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    user: { id: user.id, email: user.email, email_confirmed_at: user.emailConfirmedAt },
  };
  return { body };
}

export function messageBody(message: string): { body: MessageBody } {
  return { body: { message } };
}
