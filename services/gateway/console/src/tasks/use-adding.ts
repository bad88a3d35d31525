import { useCallback, useState } from 'preact/hooks';
import { useLeaveGuard } from '../elements/use-leave-guard.ts';
import type { Details } from './task-fields.tsx';

/** A new task as far as somebody has typed it. */
export interface NewTask {
  title: string;
  /** What they have chosen beside it; the rest is as the filters have it. */
  given: Partial<Details>;
}

export interface Adding extends NewTask {
  change(part: Partial<NewTask>): void;
  /** It was added: the next one begins. */
  end(): void;
}

const NOTHING: NewTask = { title: '', given: {} };

/** Like an editor's state, it is kept outside of its view. */
export function useAdding(): Adding {
  const [task, setTask] = useState(NOTHING);
  useLeaveGuard(task.title.trim() !== '');
  const change = useCallback((part: Partial<NewTask>) => setTask((before) => ({ ...before, ...part })), []);
  const end = useCallback(() => setTask(NOTHING), []);
  return { ...task, change, end };
}
