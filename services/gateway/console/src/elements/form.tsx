import { createContext, type ComponentChildren, type TargetedInputEvent } from 'preact';
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { explain, issueOf, otherThan } from '../requests/explain.ts';
import type { Action } from '../requests/use-action.ts';
import { Button } from './view.tsx';

export type Values = Record<string, string>;

interface Sending {
  isBusy: boolean;
  error: unknown;
  /** Names of the fields that show their own errors. */
  fields: Set<string>;
}

const SendingContext = createContext<Sending>({ isBusy: false, error: undefined, fields: new Set() });

export interface FormProps {
  label: string;
  /** Receives the values of the fields by name. */
  action: Action<[values: Values, form: HTMLFormElement]>;
  children: ComponentChildren;
}

/** After an error, focuses the first invalid field. */
export function Form({ label, action: { run, isBusy, error }, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
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
        void run(valuesOf(event.currentTarget), event.currentTarget);
      }}
    >
      <SendingContext.Provider value={{ isBusy, error, fields: new Set() }}>
        {children}
        <OtherProblem />
      </SendingContext.Provider>
    </form>
  );
}

function valuesOf(form: HTMLFormElement): Values {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

/** Rendered after the fields, because each field registers its name while it renders. */
function OtherProblem() {
  const { error, fields } = useContext(SendingContext);
  return <ActionError error={otherThan(fields, error)} />;
}

/** Explains to users why the last attempt failed. */
export function ActionError({ error, class: className = 'form-error' }: { error: unknown; class?: string }) {
  return <Problem class={className} text={error === undefined ? undefined : explain(error)} />;
}

/** Shown, and read out at once, as soon as there is a text. */
export function Problem({ text, ...others }: { text: string | undefined; class: string; id?: string }) {
  if (!text) return null;
  return (
    <p role="alert" {...others}>
      {text}
    </p>
  );
}

/** A submit button, which shows `busy` while the form is being sent. */
export function Submit({ text, busy = text, ...others }: { text: string; busy?: string; class?: string }) {
  const { isBusy } = useContext(SendingContext);
  return <Button type="submit" text={isBusy ? busy : text} disabled={isBusy} {...others} />;
}

/** The attributes that link an input to its label, hint and error. */
export interface FieldLinks {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

export interface FieldProps {
  label: string;
  /** Errors of the form about the field with this name are shown below it. */
  name?: string | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  children: (links: FieldLinks) => ComponentChildren;
}

export function Field({ label, name, hint, error: given, children }: FieldProps) {
  const id = useId();
  const { error: sent, fields } = useContext(SendingContext);
  if (name !== undefined) fields.add(name);
  const error = given ?? (name === undefined ? undefined : issueOf(sent, name));
  const described = [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error !== undefined })}
      <Problem class="field-error" id={`${id}-error`} text={error} />
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

export interface TextFieldProps extends Omit<FieldProps, 'children'> {
  type?: 'text' | 'email';
  autocomplete: string;
  value?: string;
  defaultValue?: string;
  onInput?: (text: string) => void;
}

export function TextField({ label, hint, error, onInput, type, ...others }: TextFieldProps) {
  const listen = ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => onInput?.(currentTarget.value);
  return (
    <Field label={label} name={others.name} hint={hint} error={error}>
      {(links) => {
        const input = { ...others, ...links, onInput: listen };
        return type === 'email' ? <input type="email" {...input} /> : <input type="text" dir="auto" {...input} />;
      }}
    </Field>
  );
}

export interface PasswordFieldProps extends Pick<FieldProps, 'label' | 'hint'> {
  name?: string;
  autocomplete?: 'current-password' | 'new-password' | 'off';
}

/** A password field with a button that reveals the password. */
export function PasswordField({ name = 'password', autocomplete = 'current-password', ...texts }: PasswordFieldProps) {
  const [isShown, setIsShown] = useState(false);
  const input = { name, autocomplete, spellcheck: false, autocapitalize: 'off' } as const;
  return (
    <Field name={name} {...texts}>
      {(links) => (
        <span class="password">
          {isShown ? <input type="text" {...input} {...links} /> : <input type="password" {...input} {...links} />}
          <button type="button" class="quiet" aria-pressed={isShown} onClick={() => setIsShown(!isShown)}>
            Show<span class="unseen"> what is typed as “{texts.label}”</span>
          </button>
        </span>
      )}
    </Field>
  );
}

/** Returns the options of a `<select>`. */
export const optionsOf = (labels: Iterable<readonly [value: string | number, label: string]>) =>
  Array.from(labels, ([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
