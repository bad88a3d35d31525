import type { Post } from '../http.ts';
import { READ_TASKS } from '../operations.generated.ts';
import { createKnownTasks, type KnownTasks, type Page } from './known-tasks.ts';
import type { Shape } from './shape.ts';

/** A page costs the server about twice this, of 5,000 (docs/limits.md). */
const LARGEST_PAGE = 500;

/** Reads a list page by page. @throws TaskmeshError */
export function createPages(request: Post, shape: Shape) {
  const { filter, order: orderBy } = shape;
  const readPage = async (count: number, after: string | null): Promise<Page> => {
    const first = Math.max(1, Math.min(count, LARGEST_PAGE));
    return (await request(READ_TASKS, { filter, orderBy, first, after })).tasks;
  };
  return {
    /** `count` tasks after a cursor, or as many as a page may have. */
    readPage,
    /** As many of the first tasks as are wanted, or all if there are fewer. What is wanted may change meanwhile. */
    async readFirst(wanted: () => number): Promise<KnownTasks> {
      const known = createKnownTasks(shape, await readPage(wanted(), null));
      while (known.hasMore() && known.all().length < wanted())
        known.extend(await readPage(wanted() - known.all().length, known.pageCursor()));
      return known;
    },
  };
}
