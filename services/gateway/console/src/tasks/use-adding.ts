import { useCallback, useState } from 'preact/hooks';
import { useLeaveGuard } from '../elements/use-leave-guard.ts';
import type { Details } from './task-fields.tsx';

/** A new task that the user is still typing. */
export interface NewTask {
  title: string;
  /** Fields that the user set; the current filters supply the others. */
  given: Partial<Details>;
}

export type Adding = ReturnType<typeof useAdding>;

const NOTHING: NewTask = { title: '', given: {} };

/** Like the state of the editor, this lives outside of the view, so that other views do not lose it. */
export function useAdding() {
  const [task, setTask] = useState(NOTHING);
  useLeaveGuard(task.title.trim() !== '');
  const change = useCallback((part: Partial<NewTask>) => setTask((before) => ({ ...before, ...part })), []);
  /** Call this once the task is added. */
  const end = useCallback(() => setTask(NOTHING), []);
  return { ...task, change, end };
}
