import { useEffect, useRef } from 'preact/hooks';
import { Brand } from '../elements/brand.tsx';
import { Form } from '../elements/form.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { useTitle } from '../elements/use-title.ts';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { createOperatorsApi, exchangeCode } from './api/operators-api.ts';
import { explainError, OperatorsError } from './api/operators-error.ts';

/** Characters that a header may contain. */
const TOKEN = /^[!-~]+$/;
const FIELDS = ['token'];

export interface SignInProps {
  /** From the address; exchanged for the token at once. */
  code: string | undefined;
  /** Why the operator was signed out. */
  refusal: OperatorsError | undefined;
  onSignedIn: (token: string) => void;
}

export function SignIn({ code, refusal, onSignedIn }: SignInProps) {
  const main = useRef<HTMLElement>(null);
  useTitle('Operations');
  const { run, isBusy, error } = useAction(async (given: { token: string } | { code: string }) => {
    if ('code' in given) return onSignedIn(await exchangeCode(given.code));
    const { token } = given;
    requireFilled({ token }, { token: 'Type the token.' });
    if (!TOKEN.test(token)) throw new OperatorsError(401, 'A token has letters, digits and signs, and no spaces.');
    await createOperatorsApi({ token, onRefused: () => undefined }).send('POST', '/operations/check');
    onSignedIn(token);
  });
  useEffect(() => {
    main.current?.querySelector('input')?.focus();
    if (code !== undefined) void run({ code });
  }, []);
  const missing = issueOf(error, 'token');
  const problem = missing === undefined ? (error ?? refusal) : undefined;
  return (
    <main class="entrance" ref={main}>
      <Brand />
      <h1>Operations</h1>
      {problem !== undefined && (
        <p class="note" role="alert">
          {explainError(problem)}
        </p>
      )}
      <Form
        label="Sign in as operator"
        onSubmit={({ token = '' }) => void run({ token: token.trim() })}
        error={missing && error}
        fields={FIELDS}
      >
        <PasswordField
          label="Operators’ token"
          name="token"
          autocomplete="off"
          error={missing}
          hint="The installation’s backup token. On your own machine: the content of the file that the terminal names. It is kept in this tab only, until you leave."
        />
        <button type="submit" class="primary wide" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </Form>
      <p class="other-ways">
        <a href="#/tasks">Go to your own tasks</a>
      </p>
    </main>
  );
}
