import type { Post } from '../http.ts';
import { READ_TASKS } from '../operations.generated.ts';
import { createKnownTasks, type KnownTasks, type Page } from './known-tasks.ts';
import type { Shape } from './shape.ts';

/** The query cost of a page is about twice its size, and the limit is 5,000 (docs/limits.md). */
const MAX_PAGE_SIZE = 500;

/** Reads a list page by page. @throws TaskmeshError */
export function createPages(request: Post, shape: Shape) {
  const { filter, order: orderBy } = shape;
  const readPage = async (count: number, after: string | null): Promise<Page> => {
    const first = Math.max(1, Math.min(count, MAX_PAGE_SIZE));
    return (await request(READ_TASKS, { filter, orderBy, first, after })).tasks;
  };
  return {
    /** Reads `count` tasks after a cursor, at most a full page. */
    readPage,
    /** Reads the first `wanted()` tasks, or all if there are fewer. The number may change while pages are read. */
    async readFirst(wanted: () => number): Promise<KnownTasks> {
      const known = createKnownTasks(shape, await readPage(wanted(), null));
      while (known.hasMore() && known.all().length < wanted())
        known.extend(await readPage(wanted() - known.all().length, known.pageCursor()));
      return known;
    },
  };
}
