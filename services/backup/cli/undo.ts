import type { UndoableRestore } from '@taskmesh/internal-api';
import { printable, timeText } from './format.ts';

const HOUR_MS = 60 * 60_000;

export function undoQuestion(origin: string, undoable: UndoableRestore): string {
  const { file, stores, isUndo, restoredAt, keptUntil, replacedKeptMs } = undoable;
  const what = `the ${isUndo ? 'undo of a restore' : 'restore'} of ${printable(file)} (${stores.join(', ')})`;
  const then =
    replacedKeptMs > 0
      ? `What was written since goes; it is kept for ${Number((replacedKeptMs / HOUR_MS).toFixed(1))} h, for another undo.`
      : 'What was written since is lost: RESTORE_KEEP_OLD is 0.';
  return `Take back ${what} from ${timeText(restoredAt)} at ${origin}? That can be done until ${timeText(keptUntil)}. ${then}`;
}

/** Empty when Taskmesh does not say. */
export function keptText(keptUntil: string | null | undefined): string {
  if (keptUntil === undefined) return '';
  return keptUntil === null
    ? 'What was replaced is not kept: no undo brings it back.'
    : `Until ${timeText(keptUntil)} "npm run backup -- undo" brings back what was replaced.`;
}
