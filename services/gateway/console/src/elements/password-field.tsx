import { useState } from 'preact/hooks';
import { Field, type FieldProps } from './field.tsx';

export interface PasswordFieldProps extends Omit<FieldProps, 'children'> {
  name: string;
  autocomplete: 'current-password' | 'new-password' | 'off';
}

/** The password can be made visible. */
export function PasswordField({ label, hint, error, name, autocomplete }: PasswordFieldProps) {
  const [isShown, setIsShown] = useState(false);
  const input = { name, autocomplete, spellcheck: false, autocapitalize: 'off' } as const;
  return (
    <Field label={label} hint={hint} error={error}>
      {(links) => (
        <span class="password">
          {isShown ? <input type="text" {...input} {...links} /> : <input type="password" {...input} {...links} />}
          <button type="button" class="quiet" aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
            Show<span class="unseen"> what is typed as “{label}”</span>
          </button>
        </span>
      )}
    </Field>
  );
}
