import { Field } from '../elements/field.tsx';
import { CategoryInput } from './category-input.tsx';
import type { Draft } from './draft.ts';
import { PRIORITY_LABELS } from './field-values.ts';

export type Details = Pick<Draft, 'due' | 'priority' | 'category'>;

export interface TaskFieldsProps {
  details: Details;
  categories: readonly string[];
  onChange: (details: Partial<Details>) => void;
}

/** The optional fields, for new tasks and for edited ones. */
export function TaskFields({ details: { due, priority, category }, categories, onChange }: TaskFieldsProps) {
  return (
    <div class="details">
      <Field label="Due">
        {(links) => (
          <input
            type="date"
            max="9999-12-31"
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
            {Object.entries(PRIORITY_LABELS).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
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
