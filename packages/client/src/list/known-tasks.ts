import type { ReadTasksQuery, TaskChangesSubscription } from '../operations.generated.ts';
import { comparatorOf, matches, type Shape, type Task } from './shape.ts';
import { createSortedTasks } from './sorted-tasks.ts';

export type Page = ReadTasksQuery['tasks'];
export type Change = TaskChangesSubscription['taskChanges'];

/** The feed's last report of a task: its newest version, or the last one of a deleted task. */
interface Reported {
  task: Task;
  isGone: boolean;
}

/**
 * What is known of a list on the server: its tasks from the first one to an edge, beyond which nothing is known. Pages and
 * changes may arrive in any order; versions say which is newer.
 */
export interface KnownTasks {
  readonly all: () => readonly Task[];
  get(id: string): Task | undefined;
  /** The number of all matching tasks, known or not. */
  total(): number;
  hasMore(): boolean;
  /** Whether such a task would be in the known part. */
  hasPlaceFor(task: Task): boolean;
  /** Where the next page begins. */
  pageCursor(): string | null;
  /** The cursor after which the next change comes. */
  feedCursor(): string;
  /** The server's time of the last change that is known; empty if none is. */
  latest(): string;
  /** Adds the page after the edge. Call `watch` before requesting it. */
  extend(page: Page): void;
  /** False for a change that was applied before. */
  apply(change: Change): boolean;
  /** Remembers the feed's reports from now on, as answers that are on their way may be older. Returns how to end that. */
  watch(): () => void;
  /** The feed's last report since `watch`. */
  reported(id: string): Reported | undefined;
}

export function createKnownTasks({ filter, order }: Shape, first: Page): KnownTasks {
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
    latest: () => latest,
    extend(next) {
      page = next;
      latest = later(latest, latestOf(next));
      edge = edgeOf(next);
      for (const { node } of next.edges) if (!isOlder(node, reported.get(node.id))) settle(node);
      // Changes beyond the former edge had no place here when they came; they may have one now.
      for (const { task, isGone } of reported.values()) if (!isGone) settle(task);
    },
    apply({ cursor, sequence: next, kind, task, previous }) {
      if (next <= sequence) return false;
      sequence = next;
      feedCursor = cursor;
      latest = later(latest, task.updatedAt);
      const isGone = kind === 'DELETE';
      if (watchers > 0) reported.set(task.id, { task, isGone });
      total += Number(!isGone && matches(task, filter)) - Number(previous !== null && matches(previous, filter));
      if (isGone) tasks.drop(task.id);
      else settle(task);
      return true;
    },
    watch() {
      watchers += 1;
      return () => {
        watchers -= 1;
        if (watchers === 0) reported.clear();
      };
    },
    reported: (id) => reported.get(id),
  };
}

/** The last task of a page that is not the last one. */
function edgeOf({ edges, pageInfo }: Page): Task | undefined {
  return pageInfo.hasNextPage ? edges.at(-1)?.node : undefined;
}

function latestOf({ edges }: Page): string {
  return edges.map(({ node }) => node.updatedAt).reduce(later, '');
}

function later(one: string, other: string): string {
  return other > one ? other : one;
}

/** A deleted task keeps its last version. */
function isOlder(task: Task, reported: Reported | undefined): boolean {
  return reported !== undefined && (reported.isGone || reported.task.version > task.version);
}
