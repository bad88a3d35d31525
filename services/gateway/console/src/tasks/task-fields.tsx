import { useId } from 'preact/hooks';
import { Field, optionsOf, type FieldLinks } from '../elements/form.tsx';
import type { Draft } from './draft.ts';
import { PRIORITY_LABELS } from './field-values.ts';

export type Details = Pick<Draft, 'due' | 'priority' | 'category'>;

export interface TaskFieldsProps {
  details: Details;
  categories: readonly string[];
  onChange: (details: Partial<Details>) => void;
}

/** The optional fields of a new or edited task. */
export function TaskFields({ details: { due, priority, category }, categories, onChange }: TaskFieldsProps) {
  return (
    <div class="details">
      <Field label="Due">
        {(links) => (
          <input
            type="date"
            max="9999-12-30"
            {...links}
            value={due}
            onInput={({ currentTarget: { value } }) => onChange({ due: value })}
          />
        )}
      </Field>
      <Field label="Priority">
        {(links) => (
          <select
            {...links}
            value={priority}
            onChange={({ currentTarget: { value } }) => onChange({ priority: value as Draft['priority'] })}
          >
            {optionsOf(Object.entries(PRIORITY_LABELS))}
          </select>
        )}
      </Field>
      <Field label="Category">
        {(links) => (
          <CategoryInput
            links={links}
            categories={categories}
            value={category}
            onInput={(next) => onChange({ category: next })}
          />
        )}
      </Field>
    </div>
  );
}

export interface CategoryInputProps {
  /** Categories to suggest. */
  categories: readonly string[];
  value: string;
  /** Called on each keystroke. */
  onInput?: (category: string) => void;
  /** Called when the input is committed. */
  onChange?: (category: string) => void;
  placeholder?: string;
  /** The links of the surrounding field, or an accessible name. */
  links: FieldLinks | { 'aria-label': string };
}

export function CategoryInput({ categories, value, onInput, onChange, placeholder, links }: CategoryInputProps) {
  const id = useId();
  return (
    <>
      <input
        type="text"
        dir="auto"
        autocomplete="off"
        maxLength={255}
        placeholder={placeholder}
        list={id}
        {...links}
        value={value}
        onInput={({ currentTarget }) => onInput?.(currentTarget.value)}
        onChangeCapture={({ currentTarget }) => onChange?.(currentTarget.value)} // `onChange` would be `onInput`
      />
      <datalist id={id}>
        {categories.map((category) => (
          <option key={category} value={category} />
        ))}
      </datalist>
    </>
  );
}
