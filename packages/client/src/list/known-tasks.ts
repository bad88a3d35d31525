import type { Post } from '../http.ts';
import { READ_TASKS, type ReadTasksQuery, type TaskChangesSubscription } from '../operations.generated.ts';
import { comparatorOf, matches, type Shape, type Task } from './shape.ts';

export type Page = ReadTasksQuery['tasks'];
export type Change = TaskChangesSubscription['taskChanges'];

/** The last version of a task that the feed has reported. */
interface Reported {
  task: Task;
  isDeleted: boolean;
}

/**
 * The part of a server's list that has been loaded: from the first task to an edge, beyond which nothing is known. Pages and
 * changes may arrive in any order; the tasks' versions tell which is newer.
 */
export type KnownTasks = ReturnType<typeof createKnownTasks>;

export function createKnownTasks({ filter, order }: Shape, first: Page) {
  const compare = comparatorOf(order);
  const tasks = createSortedTasks(
    compare,
    first.edges.map(({ node }) => node),
  );
  const reported = new Map<string, Reported>();
  let watchers = 0;
  let page = first;
  let edge = edgeOf(first);
  let total = first.totalCount;
  let feedCursor = first.changesCursor;
  let sequence = 0;
  let latest = latestOf(first);

  /** Whether the task matches the filter and belongs before the edge. */
  const includes = (task: Task) => matches(task, filter) && (!edge || compare(task, edge) <= 0);
  const settle = (task: Task) => {
    if ((tasks.get(task.id)?.version ?? 0) >= task.version) return;
    if (includes(task)) tasks.put(task);
    else tasks.drop(task.id);
  };

  return {
    all: tasks.all,
    get: tasks.get,
    /** The number of matching tasks on the server, whether loaded or not. */
    total: (): number => total,
    hasMore: (): boolean => edge !== undefined,
    includes,
    /** The cursor of the next page. */
    pageCursor: (): string | null => page.pageInfo.endCursor,
    /** The cursor from which the feed continues. */
    feedCursor: (): string => feedCursor,
    /** The server's time of the newest known change; empty if there is none. */
    latest: (): string => latest,
    /** Appends the page after the edge. Call `watch` before requesting the page. */
    extend(next: Page): void {
      page = next;
      latest = later(latest, latestOf(next));
      edge = edgeOf(next);
      for (const { node } of next.edges) if (!isOlder(node, reported.get(node.id))) settle(node);
      // Changes beyond the previous edge were dropped when they arrived; they may belong to the list now.
      for (const { task, isDeleted } of reported.values()) if (!isDeleted) settle(task);
    },
    /** Returns false if the change had already been applied. */
    apply({ cursor, sequence: next, kind, task, previous }: Change) {
      if (next <= sequence) return false;
      sequence = next;
      feedCursor = cursor;
      latest = later(latest, task.updatedAt);
      const isDeleted = kind === 'DELETE';
      if (watchers > 0) reported.set(task.id, { task, isDeleted });
      total += Number(!isDeleted && matches(task, filter)) - Number(previous !== null && matches(previous, filter));
      if (isDeleted) tasks.drop(task.id);
      else settle(task);
      return true;
    },
    /** Remembers the feed's reports from now on, because responses in flight may be older. Returns a function that ends this. */
    trackReports() {
      watchers += 1;
      return () => {
        watchers -= 1;
        if (watchers === 0) reported.clear();
      };
    },
    /** The feed's last report since `watch`. */
    reported: (id: string): Reported | undefined => reported.get(id),
  };
}

/** The last task of the page; undefined if no page follows. */
function edgeOf({ edges, pageInfo }: Page): Task | undefined {
  return pageInfo.hasNextPage ? edges.at(-1)?.node : undefined;
}

function latestOf({ edges }: Page): string {
  return edges.map(({ node }) => node.updatedAt).reduce(later, '');
}

function later(one: string, other: string): string {
  return other > one ? other : one;
}

/** A deletion is reported with the task's last version, so it wins over an equal version. */
function isOlder(task: Task, reported: Reported | undefined): boolean {
  return reported !== undefined && (reported.isDeleted || reported.task.version > task.version);
}

/** Tasks indexed by id and kept in order. */
function createSortedTasks(compare: (one: Task, other: Task) => number, initial: Iterable<Task> = []) {
  const byId = new Map<string, Task>();
  for (const task of initial) byId.set(task.id, task);
  let sorted = [...byId.values()].sort(compare);

  /** Returns the index of the task, or where to insert it. */
  const indexOf = (task: Task): number => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = sorted[middle];
      if (there && compare(there, task) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const drop = (id: string) => {
    const task = byId.get(id);
    if (!task) return;
    byId.delete(id);
    sorted = sorted.toSpliced(indexOf(task), 1);
  };
  return {
    get: (id: string): Task | undefined => byId.get(id),
    /** Returns the same array until something changes. */
    all: (): readonly Task[] => sorted,
    /** Inserts the task, or replaces the one with the same id. */
    put(task: Task): void {
      drop(task.id);
      byId.set(task.id, task);
      sorted = sorted.toSpliced(indexOf(task), 0, task);
    },
    drop,
  };
}

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
