import type { LiveTasksOptions, Task, TaskOrder } from '@taskmesh/client';

export type Shown = 'open' | 'done' | 'all';
export type SortName = keyof typeof SORTS;

/** Selects and orders the tasks in the list. Kept in the address, so that it survives a reload. */
export interface Filters {
  show: Shown;
  priority: Task['priority'] | undefined;
  /** Empty means any category. */
  category: string;
  sort: SortName;
}

export const SORTS = {
  newest: { label: 'Newest first', order: { field: 'CREATED_AT', direction: 'DESC' } },
  oldest: { label: 'Oldest first', order: { field: 'CREATED_AT', direction: 'ASC' } },
  due: { label: 'Due date', order: { field: 'DUE_DATE', direction: 'ASC' } },
  priority: { label: 'Priority', order: { field: 'PRIORITY', direction: 'DESC' } },
  changed: { label: 'Last changed', order: { field: 'UPDATED_AT', direction: 'DESC' } },
} as const satisfies Record<string, { label: string; order: TaskOrder }>;

export const NO_FILTERS: Filters = { show: 'open', priority: undefined, category: '', sort: 'newest' };

const PRIORITIES = ['HIGH', 'MEDIUM', 'LOW'] as const;
const PAGE = 50;

export function filtersOf(query: URLSearchParams): Filters {
  const show = query.get('show');
  const sort = query.get('sort') ?? '';
  return {
    show: show === 'done' || show === 'all' ? show : 'open',
    priority: PRIORITIES.find((each) => each === query.get('priority')),
    category: query.get('category') ?? '',
    sort: Object.hasOwn(SORTS, sort) ? (sort as SortName) : 'newest', // `hasOwn` proves it
  };
}

/** Leaves out the defaults. */
export function queryOf(filters: Filters): URLSearchParams {
  const named = Object.entries(filters).filter(
    ([name, value]) => value && value !== NO_FILTERS[name as keyof Filters], // the entries are those of `Filters`
  );
  return new URLSearchParams(named as [string, string][]);
}

export function listOf({ show, priority, category, sort }: Filters): LiveTasksOptions {
  return {
    filter: {
      ...(show !== 'all' && { completed: show === 'done' }),
      ...(priority && { priority }),
      ...(category && { category }),
    },
    orderBy: SORTS[sort].order,
    first: PAGE,
  };
}

export function isNarrow({ priority, category }: Filters): boolean {
  return priority !== undefined || category !== '';
}
