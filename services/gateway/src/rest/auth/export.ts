import { Readable } from 'node:stream';
import type { UserExchange } from '../endpoint.ts';
import { toTask } from '../full/task.ts';
import { OPERATIONS, type AuditEntryNode, type ExportPage } from '../operations.ts';
import { linkedIdentityOf, profileOf, sessionOf, tokenOf, trailEntryOf } from './rest-bodies.ts';

/** Audit entries or tasks in memory at once. */
const PAGE = 500;

type Run = UserExchange<unknown, unknown>['run'];

/**
 * Everything stored about a user, as the text of one JSON object. The long lists are streamed page by page. The short
 * parts are read first, so that a failure there is still answered with a status; a later one breaks the response off.
 */
export async function exportOf(run: Run, userId: string): Promise<Readable> {
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
    const { entries }: { entries: AuditEntryNode[] } = await run(OPERATIONS.auditEntries, {
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
    const page: { tasks: ExportPage } = await run(OPERATIONS.exportTasks, { first: PAGE, after });
    yield page.tasks.edges.map(({ node }) => toTask(node, userId));
    after = page.tasks.pageInfo.endCursor;
    if (!page.tasks.pageInfo.hasNextPage) return;
  }
}
