import type { Adding } from '../tasks/use-adding.ts';
import type { Editing } from '../tasks/use-editing.ts';
import type { Edits } from '../tasks/use-edits.ts';

export interface Unsaved {
  /** The number of changes that the server has not confirmed. */
  pendingWrites: number;
  edits: Pick<Edits, 'conflicts'>;
  editing: Pick<Editing, 'open' | 'isChanged'>;
  adding: Pick<Adding, 'title'>;
}

/** Describes everything that would be lost if the session ended now, one sentence each. */
export function lossesOf({ pendingWrites, edits, editing, adding }: Unsaved): string[] {
  const { open, isChanged } = editing;
  return [
    ...(pendingWrites === 1 ? ['One change has not reached the server yet.'] : []),
    ...(pendingWrites > 1 ? [`${pendingWrites} changes have not reached the server yet.`] : []),
    ...(open && isChanged ? [`What you typed in “${open.base.title}” is not saved.`] : []),
    ...(adding.title.trim() === '' ? [] : [`The new task “${adding.title.trim()}” is not added.`]),
    ...edits.conflicts.map(({ title }) => `Your change of “${title}” waits for your decision.`),
  ];
}
