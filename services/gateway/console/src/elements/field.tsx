import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useId } from 'preact/hooks';

/** The attributes that link an input to its label, hint and error. */
export interface FieldLinks {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

export interface FieldProps {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
  children: (links: FieldLinks) => ComponentChildren;
}

export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== undefined })}
      {error && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface TextFieldProps extends Omit<FieldProps, 'children'> {
  name?: string;
  type?: 'text' | 'email';
  autocomplete: string;
  value?: string;
  defaultValue?: string;
  onInput?: (text: string) => void;
}

export function TextField({ label, hint, error, onInput, type, ...others }: TextFieldProps) {
  const listen = ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => onInput?.(currentTarget.value);
  return (
    <Field label={label} hint={hint} error={error}>
      {(links) => {
        const input = { ...others, ...links, onInput: listen };
        return type === 'email' ? <input type="email" {...input} /> : <input type="text" dir="auto" {...input} />;
      }}
    </Field>
  );
}
