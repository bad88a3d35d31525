import type { Task } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { optionsOf } from '../elements/form.tsx';
import { PRIORITY_LABELS } from './field-values.ts';
import { SORTS, type Filters, type Shown, type SortName } from './filters.ts';
import { CategoryInput } from './task-fields.tsx';

const SHOWN: [Shown, string][] = [
  ['open', 'Open'],
  ['done', 'Done'],
  ['all', 'All'],
];

export interface FilterBarProps {
  filters: Filters;
  categories: readonly string[];
  onChange: (filters: Filters) => void;
}

export function FilterBar({ filters, categories, onChange }: FilterBarProps) {
  const [typed, setTyped] = useState<string>();
  return (
    <form
      class="filters"
      role="search"
      aria-label="Which tasks are shown"
      onSubmit={(event) => event.preventDefault()}
      onFocusOut={() => setTyped(undefined)} // after the change, if there is one
    >
      <fieldset class="segments">
        <legend class="unseen">State</legend>
        {SHOWN.map(([show, label]) => (
          <label key={show}>
            <input
              type="radio"
              name="show"
              checked={filters.show === show}
              onChange={() => onChange({ ...filters, show })}
            />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
      <label>
        <span class="unseen">Order</span>
        <select
          value={filters.sort}
          onChange={({ currentTarget: { value } }) => onChange({ ...filters, sort: value as SortName })}
        >
          {optionsOf(Object.entries(SORTS).map(([name, { label }]) => [name, label]))}
        </select>
      </label>
      <label>
        <span class="unseen">Priority</span>
        <select
          value={filters.priority ?? ''}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...filters, priority: value === '' ? undefined : (value as Task['priority']) })
          }
        >
          <option value="">Any priority</option>
          {optionsOf(Object.entries(PRIORITY_LABELS).map(([name, label]) => [name, `${label} priority`]))}
        </select>
      </label>
      <CategoryInput
        categories={categories}
        value={typed ?? filters.category}
        links={{ 'aria-label': 'Category' }}
        placeholder="Any category"
        onInput={setTyped}
        onChange={(category) => {
          setTyped(undefined);
          onChange({ ...filters, category });
        }}
      />
    </form>
  );
}
