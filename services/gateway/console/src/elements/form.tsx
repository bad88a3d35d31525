import type { ComponentChildren } from 'preact';
import { explain } from '../requests/explain.ts';

export interface FormProps {
  /** For assistive technology, where no heading names it. */
  label?: string;
  /** With what its fields hold, by their names. */
  onSubmit(values: Record<string, string>, form: HTMLFormElement): void;
  /** What went wrong the last time, but for what stands beside a field. */
  error?: unknown;
  children: ComponentChildren;
}

export function Form({ label, onSubmit, error, children }: FormProps) {
  return (
    <form
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(valuesOf(event.currentTarget), event.currentTarget);
      }}
    >
      {children}
      {error !== undefined && (
        <p class="form-error" role="alert">
          {explain(error)}
        </p>
      )}
    </form>
  );
}

function valuesOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}
