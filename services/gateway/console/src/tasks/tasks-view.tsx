import { useCallback, useEffect } from 'preact/hooks';
import { ActionError } from '../elements/form.tsx';
import { Icon } from '../elements/icon.tsx';
import { Button, Failure, Loading, View } from '../elements/view.tsx';
import { useAction } from '../requests/use-action.ts';
import { replaceQuery } from '../route.ts';
import { isUnavailable } from '../shell/use-overview.ts';
import type { ViewProps } from '../shell/desk.tsx';
import { FilterBar } from './filter-bar.tsx';
import { isNarrow, NO_FILTERS, queryOf, type Filters } from './filters.ts';
import { focusQuickAdd, QuickAdd } from './quick-add.tsx';
import { TaskList } from './task-list.tsx';

export function TasksView({ overview, list, edits, editing, adding }: ViewProps) {
  const { filters, categories, tasks, status, error, hasMore, isStale } = list;
  const show = useCallback((next: Filters) => replaceQuery('tasks', queryOf(next)), []);
  const isEmpty = tasks.length === 0 && !hasMore && (status === 'live' || status === 'reconnecting');
  return (
    <View title="Tasks">
      <Statistics total={overview.total} open={overview.open} />
      <QuickAdd
        filters={filters}
        categories={categories}
        adding={adding}
        onAdd={(input) => {
          edits.create(input);
          // A new task is open, so it would not appear among completed tasks.
          if (filters.show === 'done') show({ ...filters, show: 'open' });
        }}
      />
      <FilterBar filters={filters} categories={categories} onChange={show} />
      {status === 'loading' && !isStale && tasks.length === 0 && (
        <Loading what={isUnavailable(overview) ? 'Waiting for the server' : 'Loading your tasks'} />
      )}
      {status === 'failed' && overview.status !== 'failed' && (
        <Failure error={error} onAgain={() => location.reload()} />
      )}
      <TaskList list={list} edits={edits} editing={editing} />
      {isEmpty && <EmptyList filters={filters} hasTasks={overview.total > 0} onShow={show} />}
      {hasMore && !isStale && <LoadMore list={list} />}
    </View>
  );
}

/** Screen readers announce the numbers when they change, whether here or on another device. */
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
  /** Whether the user has tasks, which the filters then hide. */
  hasTasks: boolean;
  onShow: (filters: Filters) => void;
}

function EmptyList({ filters, hasTasks, onShow }: EmptyListProps) {
  const [title, text] = wordsFor(filters, hasTasks);
  useEffect(() => {
    // Lets a new user type at once, without taking the focus from another element.
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
        <Button text="Show all tasks" onClick={() => onShow({ ...NO_FILTERS, sort: filters.sort, show: 'all' })} />
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

function LoadMore({ list: { tasks, totalCount, status, loadMore } }: Pick<ViewProps, 'list'>) {
  const more = useAction(() => loadMore());
  useEffect(() => {
    if (tasks.length === 0 && status === 'live' && !more.error) void more.run();
  }, [tasks, status]);
  return (
    <div class="more">
      <p>
        {tasks.length} of {totalCount} shown
      </p>
      <Button text="Show more" busy="Loading…" runs={more} />
      <ActionError error={more.error} class="field-error" />
    </div>
  );
}
