import type { User } from '@taskmesh/client';
import type { Adding } from '../tasks/use-adding.ts';
import type { Editing } from '../tasks/use-editing.ts';
import type { Edits } from '../tasks/use-edits.ts';
import type { TaskList } from '../tasks/use-task-list.ts';
import type { Overview } from './use-overview.ts';

export interface ViewProps {
  user: User;
  overview: Overview;
  list: TaskList;
  edits: Edits;
  editing: Editing;
  adding: Adding;
  /** What would be lost if the session ended now, one sentence each. */
  findLosses: () => readonly string[];
  /** Called once the account is deleted. */
  onDeleted: () => Promise<void>;
}
