import { rateLimited } from '@taskmesh/contracts';
import { Readable } from 'node:stream';
import { createSlots } from '../../http/client-connections.ts';
import { checkedQuery, type Endpoint, endpoint, type Exchange, queryText } from '../endpoint.ts';
import { type AuditEntryFragment, type RestExportTasksQuery, OPERATIONS } from '../operations.ts';
import { accountExport, auditTrail } from '../schemas/responses.ts';
import { auditQuery } from '../schemas/requests.ts';
import { toTask } from '../tasks.ts';
import { tokenOf } from './sessions.ts';

const ENTRIES = 100;

/** Everything stored about the user. */
export const dataEndpoints: readonly Endpoint[] = [
  endpoint('user', 'GET /auth/audit', {
    name: 'auditTrail',
    summary: 'What happened to your account',
    description: 'Newest first. `Link` points to the next page.',
    needs: OPERATIONS.auditEntries,
    query: checkedQuery(auditQuery),
    responseSchema: auditTrail,
    isPaged: true,
    handle: async ({ query: { limit = ENTRIES, after }, run }) => {
      const body = await run(OPERATIONS.auditEntries, { first: limit, after: after ?? null });
      const last = body.entries.at(-1);
      if (!last || body.entries.length < limit) return { body };
      return { body, next: queryText({ limit, after: last.id }) };
    },
  }),
  endpoint('user', 'GET /auth/export', {
    name: 'exportAccount',
    summary: 'Everything stored about you',
    description:
      'Your profile, sessions, personal tokens (without the secrets), linked identities, audit trail and tasks, as one JSON object. ' +
      'If the response breaks off, it is incomplete: request it again.',
    needs: OPERATIONS.exportTasks,
    responseSchema: accountExport,
    handle: async ({ isHead, claims, run }) => ({
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-disposition': 'attachment; filename="taskmesh-account.json"',
      },
      body: isHead ? null : await beginExport(run, claims.userId),
    }),
  }),
];

/** Audit entries or tasks in memory at once. */
const PAGE = 100;
/** For as long, gateways remember that the session has ended. */
const MAX_MS = 3_600_000;
/** Concurrent exports of one account. */
const reserveSlot = createSlots(2);

type Run = Exchange['run'];

/** @throws AppError RATE_LIMITED */
async function beginExport(run: Run, userId: string): Promise<Readable> {
  const release = reserveSlot(userId);
  if (!release) throw rateLimited(1, 'Two exports of this account are running already.');
  try {
    return (await exportOf(run, userId)).once('close', release);
  } catch (error) {
    release();
    throw error;
  }
}

/**
 * Everything stored about a user, as the text of one JSON object. The long lists are streamed page by page. The short
 * parts are read first, so that a failure there still gets an error status; a later one aborts the response.
 */
async function exportOf(run: Run, userId: string): Promise<Readable> {
  const first = {
    ...(await run(OPERATIONS.profile, {})),
    ...(await run(OPERATIONS.sessions, {})),
    tokens: (await run(OPERATIONS.personalTokens, {})).tokens.map(tokenOf),
    ...(await run(OPERATIONS.linkedIdentities, {})),
  };
  const parts = text(JSON.stringify(first), { audit: trail(run), tasks: tasks(run, userId) });
  return new Readable({
    // Reads nothing ahead (as `Readable.from` would): data that waits here is not counted by any limit.
    highWaterMark: 0,
    signal: AbortSignal.timeout(MAX_MS),
    read() {
      parts.next().then(
        ({ value, done }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
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
    yield entries;
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
