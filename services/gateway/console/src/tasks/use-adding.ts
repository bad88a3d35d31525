import { useCallback, useState } from 'preact/hooks';
import { useLeaveGuard } from '../elements/use-leave-guard.ts';
import type { Details } from './task-fields.tsx';

/** A new task while it is being typed. */
export interface NewTask {
  title: string;
  /** Fields that were set explicitly; the filters give the others. */
  given: Partial<Details>;
}

export interface Adding extends NewTask {
  change(part: Partial<NewTask>): void;
  /** Called once the task was added. */
  end(): void;
}

const NOTHING: NewTask = { title: '', given: {} };

/** Lives outside of its view, as the state of the editor does. */
export function useAdding(): Adding {
  const [task, setTask] = useState(NOTHING);
  useLeaveGuard(task.title.trim() !== '');
  const change = useCallback((part: Partial<NewTask>) => setTask((before) => ({ ...before, ...part })), []);
  const end = useCallback(() => setTask(NOTHING), []);
  return { ...task, change, end };
}
