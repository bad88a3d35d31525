import type { LiveTask } from '@taskmesh/client';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useNotify } from '../elements/notices.tsx';
import type { ViewProps } from '../shell/desk.tsx';
import { focusQuickAdd } from './quick-add.tsx';
import { TaskEditor } from './task-editor.tsx';
import { TaskRow } from './task-row.tsx';
import { useKeptFocus } from './use-kept-focus.ts';

export function TaskList({ list: shown, edits, editing }: Pick<ViewProps, 'list' | 'edits' | 'editing'>) {
  const { tasks, categories, filters, isStale } = shown;
  const leavesWhenTicked = filters.show !== 'all';
  const notify = useNotify();
  const now = useNow();
  const { open, isChanged, begin, end } = editing;
  const edited = open && tasks.find(({ key }) => key === open.base.key);
  const rows: readonly LiveTask[] = open && !edited ? [open.base, ...tasks] : tasks;
  const list = useKeptFocus(
    rows.map(({ key }) => key),
    focusQuickAdd,
  );
  // When the edited task leaves the list, its editor closes unless it has unsaved changes.
  const isObsolete = open !== undefined && !edited && !isChanged;
  useEffect(() => {
    if (isObsolete) end();
  }, [isObsolete, end]);
  useFocusAfterEditing(list, open?.base.key);

  const edit = useCallback(
    (task: LiveTask) => {
      // Saves what is open, unless it is invalid: then its editor stays open and shows its error.
      list.current?.querySelector<HTMLFormElement>('form.editor')?.requestSubmit();
      begin(task);
    },
    [begin, list],
  );

  const complete = useCallback(
    (task: LiveTask, completed: boolean) => {
      edits.set(task, { completed });
      if (!leavesWhenTicked) return;
      const text = `${completed ? 'Done' : 'Reopened'}: “${task.title}”.`;
      notify({ text, action: { label: 'Undo', run: () => edits.set(task, { completed: !completed }) } });
    },
    [edits, leavesWhenTicked, notify],
  );
  return (
    <ul class="tasks" ref={list} aria-label="Tasks" aria-busy={isStale}>
      {rows.map((task) => (
        <li
          key={task.key}
          data-key={task.key}
          class={`task ${task.completed ? 'done' : ''} ${task.isPending ? 'waits' : ''}`}
        >
          {open?.base.key === task.key ? (
            <TaskEditor {...open} current={edited} categories={categories} editing={editing} />
          ) : (
            <TaskRow task={task} now={now} onComplete={complete} onEdit={edit} onRemove={edits.remove} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** After editing, returns the focus to the title of the task. */
function useFocusAfterEditing(list: { current: HTMLUListElement | null }, key: string | undefined): void {
  const before = useRef(key);
  useLayoutEffect(() => {
    const ended = before.current;
    before.current = key;
    if (ended === undefined || key !== undefined) return;
    const row = [...(list.current?.children ?? [])].find((each) => (each as HTMLElement).dataset['key'] === ended);
    row?.querySelector<HTMLElement>('.title')?.focus();
  }, [list, key]);
}

const MINUTE = 60_000;

/** The current time, updated every minute, because a page may stay open past midnight. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), MINUTE);
    return () => clearInterval(timer);
  }, []);
  return now;
}
