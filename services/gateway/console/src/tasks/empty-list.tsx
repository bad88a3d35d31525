import { useEffect } from 'preact/hooks';
import { Icon } from '../elements/icon.tsx';
import { isNarrow, type Filters } from './filters.ts';
import { focusQuickAdd } from './quick-add.tsx';

export interface EmptyListProps {
  filters: Filters;
  /** Whether there are tasks that the filters hide. */
  hasTasks: boolean;
  onShowAll: () => void;
}

export function EmptyList({ filters, hasTasks, onShowAll }: EmptyListProps) {
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
