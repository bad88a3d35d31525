import type { User } from '@taskmesh/client';
import type { Editing } from '../tasks/use-editing.ts';
import type { Edits } from '../tasks/use-edits.ts';
import type { Overview } from './use-overview.ts';

/** What every view is given. */
export interface ViewProps {
  user: User;
  overview: Overview;
  edits: Edits;
  editing: Editing;
}
