import type { LiveTask, Task } from '@taskmesh/client';
import { memo } from 'preact/compat';
import { Icon } from '../elements/icon.tsx';
import { Time } from '../elements/times.tsx';
import { Button } from '../elements/view.tsx';
import { formatDay, isOverdue, formatOverdue } from './due.ts';
import { PRIORITY_LABELS } from './field-values.ts';

export interface TaskRowProps {
  task: LiveTask;
  now: number;
  onComplete: (task: LiveTask, completed: boolean) => void;
  onEdit: (task: LiveTask) => void;
  onRemove: (task: LiveTask) => void;
}

export const TaskRow = memo(function TaskRow({ task, now, onComplete, onEdit, onRemove }: TaskRowProps) {
  const { title, description, completed, isPending } = task;
  // At the second click of a double click, another row may be under the pointer.
  const remove = ({ detail }: MouseEvent) => detail > 1 || onRemove(task);
  return (
    <>
      <input
        class="tick"
        type="checkbox"
        aria-label={`Done: ${title}`}
        checked={completed}
        onClick={(event) => event.detail > 1 && event.preventDefault()}
        onChange={({ currentTarget }) => {
          onComplete(task, currentTarget.checked);
          currentTarget.checked = completed; // until the list has the change, which may be refused
        }}
      />
      <div class="what">
        <button type="button" class="title" onClick={() => onEdit(task)}>
          <span class="unseen">Edit </span>
          <bdi>
            {title}
            <Icon name="pencil" />
          </bdi>
        </button>
        {description && (
          <p class="excerpt">
            <bdi>{description}</bdi>
          </p>
        )}
        <TaskMeta task={task} now={now} />
      </div>
      {isPending && (
        <span class="pending" title="Not on the server yet">
          <span class="unseen">Not on the server yet</span>
        </span>
      )}
      <Button icon="trash" class="quiet bare remove" aria-label={`Delete ${title}`} onClick={remove} />
    </>
  );
});

/** The details below a task's title, without those that have default values. */
function TaskMeta({ task, now }: { task: Task; now: number }) {
  const { dueDate, priority, category } = task;
  if (dueDate === null && priority === 'MEDIUM' && !category) return null;
  const isLate = isOverdue(task, now);
  return (
    <ul class="meta">
      {dueDate !== null && (
        <li class={isLate ? 'due late' : 'due'}>
          <Icon name="calendar" />
          <Time at={dueDate}>
            {isLate ? (
              formatOverdue(dueDate, now)
            ) : (
              <>
                <span class="unseen">Due </span>
                {formatDay(dueDate, now)}
              </>
            )}
          </Time>
        </li>
      )}
      {priority !== 'MEDIUM' && (
        <li class={`priority ${priority.toLowerCase()}`}>
          <Icon name="flag" />
          {PRIORITY_LABELS[priority]}
          <span class="unseen"> priority</span>
        </li>
      )}
      {category && (
        <li class="category">
          <Icon name="tag" />
          <bdi class="cut" title={category}>
            {category}
          </bdi>
        </li>
      )}
    </ul>
  );
}
