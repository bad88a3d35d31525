import { useEffect, useRef } from 'preact/hooks';
import { ActionError, Form, PasswordField, Submit, type Values } from '../elements/form.tsx';
import { Brand, useTitle } from '../elements/view.tsx';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { createOperatorsApi, exchangeCode } from './api/operators-api.ts';
import { OperatorsError } from './api/read-lines.ts';

/** The characters that the authorization header allows. */
const TOKEN = /^[!-~]+$/;

export interface SignInProps {
  /** The one-time code from the address; exchanged for the token at once. */
  code: string | undefined;
  /** Why the operator was signed out. */
  refusal: OperatorsError | undefined;
  onSignedIn: (token: string) => void;
}

export function SignIn({ code, refusal, onSignedIn }: SignInProps) {
  const main = useRef<HTMLElement>(null);
  useTitle('Operations');
  const action = useAction(async (values: Values) => {
    if (values.code !== undefined) return onSignedIn(await exchangeCode(values.code));
    const token = values.token?.trim() ?? '';
    requireFilled({ token }, { token: 'Type the token.' });
    if (!TOKEN.test(token)) throw new OperatorsError(401, 'A token has letters, digits and signs, and no spaces.');
    await createOperatorsApi({ token, onRefused: () => undefined }).send('POST', '/operations/check');
    onSignedIn(token);
  });
  useEffect(() => {
    main.current?.querySelector('input')?.focus();
    if (code !== undefined) void action.run({ code });
  }, []);
  const isMissing = issueOf(action.error, 'token') !== undefined;
  const problem = isMissing ? undefined : (action.error ?? refusal);
  return (
    <main class="entrance" ref={main}>
      <Brand />
      <h1>Operations</h1>
      <ActionError error={problem} class="note" />
      <Form label="Sign in as operator" action={{ ...action, error: isMissing ? action.error : undefined }}>
        <PasswordField
          label="Operators’ token"
          name="token"
          autocomplete="off"
          hint="The installation’s backup token. On your own machine: the content of the file that the terminal names. It is kept in this tab only, until you leave."
        />
        <Submit text="Sign in" class="primary wide" busy="Signing in…" />
      </Form>
      <p class="other-ways">
        <a href="#/tasks">Go to your own tasks</a>
      </p>
    </main>
  );
}
