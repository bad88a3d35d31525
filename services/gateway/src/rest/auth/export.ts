import { Readable } from 'node:stream';
import type { UserExchange } from '../endpoint.ts';
import { toTask } from '../full/task.ts';
import { OPERATIONS, type AuditEntryNode, type ExportPage } from '../operations.ts';
import { linkedIdentityOf, profileOf, sessionOf, tokenOf, trailEntryOf } from './nodes.ts';

/** Entries and tasks that are held at once. */
const PAGE = 500;

type Run = UserExchange<unknown, unknown>['run'];

/**
 * All that there is of somebody, as the text of one JSON object: what is long comes page by page, so that it is never held
 * whole. What is read first fails before anything is sent; a failure later tears the answer.
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

/** An object, and lists that are added to it. */
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

/** In the order in which they were made, which never changes: what is there all the time is told once. */
async function* tasks(run: Run, userId: string) {
  for (let after: string | null = null; ;) {
    const page: { tasks: ExportPage } = await run(OPERATIONS.exportTasks, { first: PAGE, after });
    yield page.tasks.edges.map(({ node }) => toTask(node, userId));
    after = page.tasks.pageInfo.endCursor;
    if (!page.tasks.pageInfo.hasNextPage) return;
  }
}
