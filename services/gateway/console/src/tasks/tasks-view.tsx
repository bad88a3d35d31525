import { useCallback } from 'preact/hooks';
import { Failure } from '../elements/failure.tsx';
import { Loading } from '../elements/loading.tsx';
import { View } from '../elements/view.tsx';
import { replaceQuery } from '../route.ts';
import { isAway } from '../shell/use-overview.ts';
import type { ViewProps } from '../shell/view-props.ts';
import { EmptyList } from './empty-list.tsx';
import { FilterBar } from './filter-bar.tsx';
import { NO_FILTERS, queryOf, type Filters } from './filters.ts';
import { LoadMore } from './load-more.tsx';
import { QuickAdd } from './quick-add.tsx';
import { Statistics } from './statistics.tsx';
import { TaskList } from './task-list.tsx';

export function TasksView({ overview, list, edits, editing, adding }: ViewProps) {
  const { filters, categories, tasks, status, error, hasMore, totalCount, isStale, loadMore } = list;
  const show = useCallback((next: Filters) => replaceQuery('tasks', queryOf(next)), []);
  const isEmpty = tasks.length === 0 && (status === 'live' || status === 'reconnecting');
  return (
    <View title="Tasks">
      <Statistics total={overview.total} open={overview.open} />
      <QuickAdd
        filters={filters}
        categories={categories}
        adding={adding}
        onAdd={(input) => {
          edits.create(input);
          // A new task is open, and so would not appear among those that are done.
          if (filters.show === 'done') show({ ...filters, show: 'open' });
        }}
      />
      <FilterBar filters={filters} categories={categories} onChange={show} />
      {status === 'loading' && !isStale && tasks.length === 0 && (
        <Loading what={isAway(overview) ? 'Waiting for the server' : 'Loading your tasks'} />
      )}
      {status === 'failed' && overview.status !== 'failed' && (
        <Failure error={error} onAgain={() => location.reload()} />
      )}
      <TaskList
        tasks={tasks}
        edits={edits}
        editing={editing}
        categories={categories}
        leavesWhenTicked={filters.show !== 'all'}
        isStale={isStale}
      />
      {isEmpty && (
        <EmptyList
          filters={filters}
          hasTasks={overview.total > 0}
          onShowAll={() => show({ ...NO_FILTERS, sort: filters.sort, show: 'all' })}
        />
      )}
      {hasMore && !isStale && <LoadMore shown={tasks.length} total={totalCount} onMore={loadMore} />}
    </View>
  );
}
