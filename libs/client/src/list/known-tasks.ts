import type { ReadTasksQuery, TaskChangesSubscription } from '../operations.generated.ts';
import { comparatorOf, matches, type Shape, type Task } from './shape.ts';
import { createSortedTasks } from './sorted-tasks.ts';

export type Page = ReadTasksQuery['tasks'];
export type Change = TaskChangesSubscription['taskChanges'];

/** What the feed told of a task last: its newest row, also of one that is gone. */
interface Told {
  task: Task;
  isGone: boolean;
}

/**
 * What the server has told of a list: its tasks from the first one to an edge, behind which nothing is known. It is put
 * together from pages and changes that come in any order between each other; versions tell which is newer.
 */
export interface KnownTasks {
  readonly all: () => readonly Task[];
  get(id: string): Task | undefined;
  /** That match, whatever is known. */
  total(): number;
  hasMore(): boolean;
  /** Whether it would stand here if it were a task. */
  hasPlaceFor(task: Task): boolean;
  /** Where the next page begins. */
  pageCursor(): string | null;
  /** Behind which the next change is to be asked for. */
  feedCursor(): string;
  /** The page behind the edge. Whatever the feed has told since the page was asked for must have been watched. */
  extend(page: Page): void;
  /** False for a change that was told before. */
  apply(change: Change): boolean;
  /** Keeps in mind what the feed tells from now on: for answers that are on their way, and may be older. The returned function ends that. */
  watch(): () => void;
  /** What the feed has told while somebody watches. */
  told(id: string): Told | undefined;
}

export function createKnownTasks({ filter, order }: Shape, first: Page): KnownTasks {
  const compare = comparatorOf(order);
  const tasks = createSortedTasks(
    compare,
    first.edges.map(({ node }) => node),
  );
  const told = new Map<string, Told>();
  let watchers = 0;
  let page = first;
  let edge = edgeOf(first);
  let total = first.totalCount;
  let feedCursor = first.changesCursor;
  let sequence = 0;

  const hasPlaceFor = (task: Task) => matches(task, filter) && (!edge || compare(task, edge) <= 0);
  const settle = (task: Task) => {
    if ((tasks.get(task.id)?.version ?? 0) >= task.version) return;
    if (hasPlaceFor(task)) tasks.put(task);
    else tasks.drop(task.id);
  };

  return {
    all: tasks.all,
    get: tasks.get,
    total: () => total,
    hasMore: () => edge !== undefined,
    hasPlaceFor,
    pageCursor: () => page.pageInfo.endCursor,
    feedCursor: () => feedCursor,
    extend(next) {
      page = next;
      edge = edgeOf(next);
      for (const { node } of next.edges) if (!isOlder(node, told.get(node.id))) settle(node);
      // What came from behind the former edge meanwhile had no place then, and may have one now.
      for (const { task, isGone } of told.values()) if (!isGone) settle(task);
    },
    apply({ cursor, sequence: next, kind, task, previous }) {
      if (next <= sequence) return false;
      sequence = next;
      feedCursor = cursor;
      const isGone = kind === 'DELETE';
      if (watchers > 0) told.set(task.id, { task, isGone });
      total += Number(!isGone && matches(task, filter)) - Number(previous !== null && matches(previous, filter));
      if (isGone) tasks.drop(task.id);
      else settle(task);
      return true;
    },
    watch() {
      watchers += 1;
      return () => {
        watchers -= 1;
        if (watchers === 0) told.clear();
      };
    },
    told: (id) => told.get(id),
  };
}

/** The last task of a page that is not the last one. */
function edgeOf({ edges, pageInfo }: Page): Task | undefined {
  return pageInfo.hasNextPage ? edges.at(-1)?.node : undefined;
}

/** A task that is gone has the version that it had. */
function isOlder(task: Task, told: Told | undefined): boolean {
  return told !== undefined && (told.isGone || told.task.version > task.version);
}
