import { userEndpoint, type Endpoint } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { checkedQuery } from '../request/query.ts';
import { accountExport, auditTrail, type AuditTrailBody } from '../schemas/answers.ts';
import { auditQuery } from '../schemas/requests.ts';
import { exportOf } from './export.ts';
import { trailEntryOf } from './rest-bodies.ts';

const ENTRIES = 100;

/** Everything stored about the user. */
export const dataEndpoints: readonly Endpoint[] = [
  userEndpoint({
    method: 'GET',
    path: '/auth/audit',
    name: 'auditTrail',
    summary: 'What happened to your account',
    description: 'Newest first. `Link` points to the next page.',
    needs: OPERATIONS.auditEntries,
    query: checkedQuery(auditQuery),
    status: 200,
    answerSchema: auditTrail,
    isPaged: true,
    handle: async ({ query: { limit = ENTRIES, after }, run }) => {
      const { entries } = await run(OPERATIONS.auditEntries, { first: limit, after: after ?? null });
      const body: AuditTrailBody = { entries: entries.map(trailEntryOf) };
      const last = entries.at(-1);
      if (!last || entries.length < limit) return { body };
      return { body, next: new URLSearchParams({ limit: String(limit), after: last.id }).toString() };
    },
  }),
  userEndpoint({
    method: 'GET',
    path: '/auth/export',
    name: 'exportAccount',
    summary: 'Everything stored about you',
    description:
      'Your profile, sessions, personal tokens (without the secrets), linked identities, audit trail and tasks, as one JSON object. ' +
      'If the response breaks off, it is incomplete: request it again.',
    needs: OPERATIONS.exportTasks,
    status: 200,
    answerSchema: accountExport,
    handle: async ({ isHead, claims, run }) => ({
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-disposition': 'attachment; filename="taskmesh-account.json"',
      },
      body: isHead ? null : await exportOf(run, claims.userId),
    }),
  }),
];
