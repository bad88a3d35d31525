import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { explain } from '../requests/explain.ts';
import { otherThan } from '../requests/other-issues.ts';

export interface FormProps {
  /** For assistive technology, where no heading names it. */
  label?: string;
  /** With what its fields hold, by their names. */
  onSubmit(values: Record<string, string>, form: HTMLFormElement): void;
  /** What went wrong the last time. */
  error?: unknown;
  /** The names of the fields that say themselves what is wrong with them. */
  fields?: readonly string[];
  children: ComponentChildren;
}

/** Who sent something wrong is on the first field of it. */
export function Form({ label, onSubmit, error, fields = [], children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const problem = otherThan(fields, error);
  useLayoutEffect(() => {
    if (error !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return (
    <form
      ref={form}
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(valuesOf(event.currentTarget), event.currentTarget);
      }}
    >
      {children}
      {problem !== undefined && (
        <p class="form-error" role="alert">
          {explain(problem)}
        </p>
      )}
    </form>
  );
}

function valuesOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}
