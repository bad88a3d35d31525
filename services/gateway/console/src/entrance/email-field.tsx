import { TextField } from '../elements/field.tsx';
import { issueOf } from '../requests/explain.ts';
import type { WayInProps } from './way-in.ts';

export interface EmailFieldProps extends Pick<WayInProps, 'email' | 'onEmail'> {
  hint?: string;
  error: unknown;
}

/** The same in all forms, so that browsers fill it in alike. */
export function EmailField({ email, onEmail, hint, error }: EmailFieldProps) {
  return (
    <TextField
      label="E-mail"
      name="email"
      type="email"
      autocomplete="username"
      defaultValue={email}
      onInput={onEmail}
      hint={hint}
      error={issueOf(error, 'email')}
    />
  );
}
