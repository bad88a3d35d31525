import { Readable } from 'node:stream';
import { checkedQuery, type Endpoint, userEndpoint, type UserExchange } from '../endpoint.ts';
import { type AuditEntryFragment, type RestExportTasksQuery, OPERATIONS } from '../operations.ts';
import { accountExport, auditTrail, type AuditTrailBody } from '../schemas/answers.ts';
import { auditQuery } from '../schemas/requests.ts';
import { toTask } from '../tasks/task-input.ts';
import { linkedIdentityOf, profileOf, sessionOf, tokenOf, trailEntryOf } from './rest-bodies.ts';

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

/** Audit entries or tasks in memory at once. */
const PAGE = 500;

type Run = UserExchange<unknown, unknown>['run'];

/**
 * Everything stored about a user, as the text of one JSON object. The long lists are streamed page by page. The short
 * parts are read first, so that a failure there is still answered with a status; a later one breaks the response off.
 */
async function exportOf(run: Run, userId: string): Promise<Readable> {
  const { profile } = await run(OPERATIONS.profile, {});
  const { sessions } = await run(OPERATIONS.sessions, {});
  const { tokens } = await run(OPERATIONS.personalTokens, {});
  const { identities } = await run(OPERATIONS.linkedIdentities, {});
  const first = {
    ...{ profile: profileOf(profile), sessions: sessions.map(sessionOf), tokens: tokens.map(tokenOf) },
    identities: identities.map(linkedIdentityOf),
  };
  return Readable.from(text(JSON.stringify(first), { audit: trail(run), tasks: tasks(run, userId) }), {
    objectMode: false,
  });
}

/** Streams a JSON object, extended by lists. */
async function* text(object: string, lists: Record<string, AsyncIterable<object[]>>): AsyncGenerator<string> {
  yield object.slice(0, -1);
  for (const [name, pages] of Object.entries(lists)) {
    yield `,${JSON.stringify(name)}:[`;
    let separator = '';
    for await (const page of pages) {
      if (page.length === 0) continue;
      yield separator + page.map((each) => JSON.stringify(each)).join(',');
      separator = ',';
    }
    yield ']';
  }
  yield '}';
}

async function* trail(run: Run) {
  for (let after: string | null = null; ;) {
    const { entries }: { entries: AuditEntryFragment[] } = await run(OPERATIONS.auditEntries, {
      first: PAGE,
      after,
    });
    yield entries.map(trailEntryOf);
    after = entries.at(-1)?.id ?? null;
    if (entries.length < PAGE) return;
  }
}

/** Ordered by creation, which never changes, so a task that exists throughout appears exactly once. */
async function* tasks(run: Run, userId: string) {
  for (let after: string | null = null; ;) {
    const page: RestExportTasksQuery = await run(OPERATIONS.exportTasks, { first: PAGE, after });
    yield page.tasks.edges.map(({ node }) => toTask(node, userId));
    after = page.tasks.pageInfo.endCursor;
    if (!page.tasks.pageInfo.hasNextPage) return;
  }
}
