import type { LiveTask } from '@taskmesh/client';
import { memo } from 'preact/compat';
import { Icon } from '../elements/icon.tsx';
import { TaskMeta } from './task-meta.tsx';

export interface TaskRowProps {
  task: LiveTask;
  now: number;
  onComplete: (task: LiveTask, completed: boolean) => void;
  onEdit: (task: LiveTask) => void;
  onRemove: (task: LiveTask) => void;
}

export const TaskRow = memo(function TaskRow({ task, now, onComplete, onEdit, onRemove }: TaskRowProps) {
  const { title, description, completed, isPending } = task;
  return (
    <>
      <input
        class="tick"
        type="checkbox"
        aria-label={`Done: ${title}`}
        checked={completed}
        onChange={({ currentTarget }) => onComplete(task, currentTarget.checked)}
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
      <button type="button" class="quiet bare remove" aria-label={`Delete ${title}`} onClick={() => onRemove(task)}>
        <Icon name="trash" />
      </button>
    </>
  );
});
