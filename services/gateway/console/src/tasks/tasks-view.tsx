import { useCallback, useEffect } from 'preact/hooks';
import { Icon } from '../elements/icon.tsx';
import { Failure, Loading, View } from '../elements/view.tsx';
import { explain } from '../requests/explain.ts';
import { useAction } from '../requests/use-action.ts';
import { replaceQuery } from '../route.ts';
import { isAway } from '../shell/use-overview.ts';
import type { ViewProps } from '../shell/views.ts';
import { FilterBar } from './filter-bar.tsx';
import { isNarrow, NO_FILTERS, queryOf, type Filters } from './filters.ts';
import { focusQuickAdd, QuickAdd } from './quick-add.tsx';
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

/** Screen readers say the numbers when they change, here or elsewhere. */
function Statistics({ total, open }: { total: number; open: number }) {
  const done = total - open;
  return (
    <div class="statistics">
      <p role="status">
        {total > 0 && (
          <>
            <strong>{open}</strong> open, <strong>{done}</strong> done
          </>
        )}
      </p>
      {total > 0 && (
        <>
          <progress aria-label="Done" max={total} value={done} />
          <p class="percent" aria-hidden="true">
            {Math.floor((100 * done) / total)}%
          </p>
        </>
      )}
    </div>
  );
}

interface EmptyListProps {
  filters: Filters;
  /** Whether there are tasks that the filters hide. */
  hasTasks: boolean;
  onShowAll: () => void;
}

function EmptyList({ filters, hasTasks, onShowAll }: EmptyListProps) {
  const [title, text] = wordsFor(filters, hasTasks);
  useEffect(() => {
    // A new user can type at once; a focus that is somewhere already stays there.
    if (!hasTasks && document.activeElement === document.body) focusQuickAdd();
  }, [hasTasks]);
  return (
    <div class="empty">
      <span class="badge">
        <Icon name="check" />
      </span>
      <h2>{title}</h2>
      <p>{text}</p>
      {hasTasks && (
        <button type="button" onClick={onShowAll}>
          Show all tasks
        </button>
      )}
    </div>
  );
}

function wordsFor(filters: Filters, hasTasks: boolean): [title: string, text: string] {
  if (!hasTasks)
    return ['Nothing to do yet', 'Type a task above and press Enter. It appears on all your devices at once.'];
  if (isNarrow(filters)) return ['Nothing matches', 'No task matches all of these filters.'];
  if (filters.show === 'open') return ['All done', 'There is no open task left.'];
  return ['Nothing done yet', 'Tasks that you tick off appear here.'];
}

function LoadMore({ shown, total, onMore }: { shown: number; total: number; onMore: () => Promise<void> }) {
  const { run, isBusy, error } = useAction(() => onMore());
  return (
    <div class="more">
      <p>
        {shown} of {total} shown
      </p>
      <button type="button" disabled={isBusy} onClick={() => void run()}>
        {isBusy ? 'Loading…' : 'Show more'}
      </button>
      {error !== undefined && (
        <p class="field-error" role="alert">
          {explain(error)}
        </p>
      )}
    </div>
  );
}
