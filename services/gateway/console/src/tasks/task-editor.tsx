import type { Task } from '@taskmesh/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Field, TextField } from '../elements/form.tsx';
import { Button } from '../elements/view.tsx';
import { clashesOf } from './conflict.ts';
import { problemOfNotes, problemOfTitle, type Draft } from './draft.ts';
import { TaskFields } from './task-fields.tsx';
import type { Editing, Open } from './use-editing.ts';

export interface TaskEditorProps extends Open {
  /** The current state of the task; undefined if it has left the list. */
  current: Task | undefined;
  categories: readonly string[];
  editing: Editing;
}

/** Replaces the row. Enter saves and Escape cancels; in the notes, Enter starts a new line and Ctrl+Enter saves. */
export function TaskEditor({ draft, base, current, categories, editing }: TaskEditorProps) {
  const [problems, setProblems] = useState<{ title?: string | undefined; notes?: string | undefined }>({});
  const form = useRef<HTMLFormElement>(null);
  const change = (part: Partial<Draft>) => editing.change({ ...draft, ...part });
  useEffect(() => {
    form.current?.querySelector('input')?.focus({ preventScroll: true });
    form.current?.scrollIntoView({ block: 'nearest' });
  }, []);

  const save = () => {
    const found = { title: problemOfTitle(draft.title), notes: problemOfNotes(draft.description) };
    setProblems(found);
    const invalid = found.title ? 'input' : found.notes && 'textarea';
    if (invalid) form.current?.querySelector<HTMLElement>(invalid)?.focus();
    else editing.save();
  };
  return (
    <form
      ref={form}
      class="editor"
      aria-label={`Edit ${base.title}`}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={({ key, ctrlKey, metaKey, isComposing }) => {
        if (isComposing) return;
        if (key === 'Escape') editing.end();
        if (key === 'Enter' && (ctrlKey || metaKey)) form.current?.requestSubmit();
      }}
    >
      <ChangedElsewhere base={base} current={current} />
      <TextField
        label="Title"
        autocomplete="off"
        error={problems.title}
        value={draft.title}
        onInput={(title) => change({ title })}
      />
      <Field label="Notes" error={problems.notes}>
        {(links) => (
          <textarea
            {...links}
            dir="auto"
            rows={3}
            value={draft.description}
            onInput={({ currentTarget: { value } }) => change({ description: value })}
          />
        )}
      </Field>
      <TaskFields details={draft} categories={categories} onChange={change} />
      <div class="buttons">
        <Button text="Cancel" onClick={editing.end} />
        <Button type="submit" text="Save" class="primary" />
      </div>
    </form>
  );
}

function ChangedElsewhere({ base, current }: { base: Task; current: Task | undefined }) {
  if (current && clashesOf(undefined, base, current).length === 0) return null;
  return (
    <p class="note" role="status">
      {current
        ? 'This task has been changed elsewhere in the meantime. If you change the same field, you will be asked which to keep.'
        : 'This task is no longer in this list. You can still save your change.'}
    </p>
  );
}
