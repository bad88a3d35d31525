import type { TaskImage } from '@taskmesh/contracts';

/** The graph's `TaskFilter`. Absent and null both mean any value. */
export interface TaskFilter {
  completed?: boolean | null;
  category?: string | null;
  /** The enum's name: LOW, MEDIUM or HIGH. */
  priority?: string | null;
}

export function matches(task: TaskImage, { completed, category, priority }: TaskFilter): boolean {
  return (
    (completed == null || task.completed === completed) &&
    (category == null || task.category === category) &&
    (priority == null || task.priority === priority.toLowerCase())
  );
}
