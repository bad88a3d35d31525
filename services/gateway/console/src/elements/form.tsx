import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ActionError } from './action-error.tsx';
import { otherThan } from '../requests/other-issues.ts';

export interface FormProps {
  /** The accessible name, if no heading gives one. */
  label?: string;
  /** Called with the values of the fields by name. */
  onSubmit(values: Record<string, string>, form: HTMLFormElement): void;
  /** The error of the last attempt. */
  error?: unknown;
  /** The names of the fields that show their own errors. */
  fields?: readonly string[];
  children: ComponentChildren;
}

/** After an error, focuses the first invalid field. */
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
      <ActionError error={problem} />
    </form>
  );
}

function valuesOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}
