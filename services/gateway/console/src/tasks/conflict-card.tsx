import type { Task, UpdateTaskInput } from '@taskmesh/client';
import { useId, useState } from 'preact/hooks';
import { FIELDS, type Conflict, type Field } from './conflict.ts';
import { FIELD_LABELS, valueInWords } from './field-values.ts';

export interface ConflictCardProps {
  conflict: Conflict;
  theirs: Task;
  onSettle: (chosen?: UpdateTaskInput) => void;
}

type Side = 'mine' | 'theirs';

/** Shows both versions field by field. Nothing is saved before one is chosen. */
export function ConflictCard({ conflict, theirs, onSettle }: ConflictCardProps) {
  const { title, changes, clashes } = conflict;
  const id = useId();
  const [sides, setSides] = useState<Partial<Record<Field, Side>>>({});
  const choose = (field: Field, side: Side) => setSides((before) => ({ ...before, [field]: side }));
  const save = () => {
    const mine = FIELDS.filter((field) => changes[field] !== undefined && sides[field] !== 'theirs');
    onSettle(mine.length === 0 ? undefined : Object.fromEntries(mine.map((field) => [field, changes[field]])));
  };
  return (
    <form
      class="conflict"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div role="alert">
        <h2 id={id}>“{title}” was changed elsewhere, too</h2>
        <p>Nothing is saved yet. Choose what the task should say.</p>
      </div>
      {clashes.map((field) => (
        <fieldset key={field} class="sides">
          <legend>{FIELD_LABELS[field]}</legend>
          {(['mine', 'theirs'] as const).map((side) => (
            <label key={side} class="side">
              <input
                type="radio"
                name={`${id}-${field}`}
                checked={(sides[field] ?? 'mine') === side}
                onChange={() => choose(field, side)}
              />
              <span class="whose">{side === 'mine' ? 'Your change' : 'Changed elsewhere'}</span>
              <span class="value">{valueInWords(field, side === 'mine' ? changes : theirs)}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <div class="buttons">
        <button type="button" onClick={() => onSettle()}>
          Drop my change
        </button>
        <button type="submit" class="primary">
          Save my choice
        </button>
      </div>
    </form>
  );
}
