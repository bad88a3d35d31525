import type { Task } from '@taskmesh/client';
import { Icon } from '../elements/icon.tsx';
import { Time } from '../elements/times.tsx';
import { dayInWords, isOverdue, overdueInWords } from './due.ts';
import { PRIORITY_LABELS } from './field-values.ts';

/** The details below a task's title; those with default values are left out. */
export function TaskMeta({ task, now }: { task: Task; now: number }) {
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
              overdueInWords(dueDate, now)
            ) : (
              <>
                <span class="unseen">Due </span>
                {dayInWords(dueDate, now)}
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
          <bdi title={category}>{category}</bdi>
        </li>
      )}
    </ul>
  );
}
