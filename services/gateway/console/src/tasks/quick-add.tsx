import type { CreateTaskInput } from '@taskmesh/client';
import { useId, useRef, useState } from 'preact/hooks';
import { Problem } from '../elements/form.tsx';
import { Button } from '../elements/view.tsx';
import { problemOfTitle } from './draft.ts';
import { endOf } from './due.ts';
import type { Filters } from './filters.ts';
import { TaskFields, type Details } from './task-fields.tsx';
import type { Adding } from './use-adding.ts';

export interface QuickAddProps {
  /** New tasks get the priority and category of the filters, so that they appear in the list. */
  filters: Filters;
  categories: readonly string[];
  adding: Adding;
  onAdd: (input: CreateTaskInput) => void;
}

export function focusQuickAdd(): void {
  document.querySelector<HTMLElement>('.quick-add input')?.focus();
}

/** A line for new tasks: Enter adds one, and the line is ready for the next. */
export function QuickAdd({ filters, categories, adding, onAdd }: QuickAddProps) {
  const { title, given, change, end } = adding;
  const [isOpen, setIsOpen] = useState(false);
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const details: Details = { due: '', priority: filters.priority ?? 'MEDIUM', category: filters.category, ...given };

  const add = () => {
    const wrong = problemOfTitle(title);
    setProblem(wrong);
    input.current?.focus();
    if (wrong) return;
    const { due, priority, category } = details;
    onAdd({ title, priority, ...(due && { dueDate: endOf(due) }), ...(category && { category }) });
    end();
    setIsOpen(false);
  };
  return (
    <form
      class="quick-add"
      aria-label="Add a task"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
      onKeyDown={({ key, isComposing }) => {
        if (key !== 'Escape' || isComposing) return;
        setIsOpen(false);
        setProblem(undefined);
        input.current?.focus();
      }}
    >
      <div class="line">
        <input
          ref={input}
          type="text"
          dir="auto"
          name="title"
          autocomplete="off"
          aria-label="New task"
          aria-describedby={problem && id}
          aria-invalid={problem !== undefined}
          placeholder="Add a task"
          value={title}
          onInput={({ currentTarget: { value } }) => change({ title: value })}
        />
        <Button
          icon="more"
          class="quiet"
          aria-expanded={isOpen}
          aria-label="Due date, priority, category"
          onClick={({ currentTarget: { form } }) => form?.reportValidity() && setIsOpen(!isOpen)}
        />
        <Button type="submit" icon="plus" text="Add" class="primary" />
      </div>
      <Problem class="field-error" id={id} text={problem} />
      {isOpen && (
        <TaskFields
          details={details}
          categories={categories}
          onChange={(part) => change({ given: { ...given, ...part } })}
        />
      )}
    </form>
  );
}
