import { useId } from 'preact/hooks';
import type { FieldLinks } from '../elements/field.tsx';

export interface CategoryInputProps {
  /** Categories in use, as suggestions. */
  categories: readonly string[];
  value: string;
  /** Called on each keystroke. */
  onInput?: (category: string) => void;
  /** Called when the input is complete. */
  onChange?: (category: string) => void;
  placeholder?: string;
  /** Attributes of the field around it, or a name of its own. */
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
        onChange={({ currentTarget }) => onChange?.(currentTarget.value)}
      />
      <datalist id={id}>
        {categories.map((category) => (
          <option key={category} value={category} />
        ))}
      </datalist>
    </>
  );
}
