import { useEffect, useRef } from 'preact/hooks';
import { Brand } from '../elements/brand.tsx';
import { Form } from '../elements/form.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { useTitle } from '../elements/use-title.ts';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { withoutCode } from '../session/arrival.ts';

const FIELDS = ['password'];

export interface LinkAccountProps {
  /** Says which account it is. */
  why: string;
  signIn: (password: string) => Promise<unknown>;
  onEnd: () => void;
}

/** Owning an address at the provider does not prove that the account here is theirs; its password does. */
export function LinkAccount({ why, signIn, onEnd }: LinkAccountProps) {
  const main = useRef<HTMLElement>(null);
  const { run, isBusy, error } = useAction(async (password: string) => {
    requireFilled({ password }, { password: 'Type your password.' });
    await signIn(password);
    onEnd();
  });
  useTitle('Link your account');
  useEffect(() => main.current?.querySelector('input')?.focus(), []);
  return (
    <main class="entrance" ref={main}>
      <Brand />
      <h1>Link your account</h1>
      <p class="lead">{why} It proves that the account is yours. After that, you can sign in either way.</p>
      <Form
        label="Link your account"
        onSubmit={({ password = '' }) => void run(password)}
        error={withoutCode(error)}
        fields={FIELDS}
      >
        <PasswordField
          label="Password"
          name="password"
          autocomplete="current-password"
          error={issueOf(error, 'password')}
        />
        <button type="submit" class="primary wide" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Link and sign in'}
        </button>
        <button type="button" class="quiet wide" onClick={onEnd}>
          Cancel
        </button>
      </Form>
      <p class="other-ways">
        <a href="#/recover" target="_blank">
          Forgot your password? <span class="soft">(opens a new tab: come back within ten minutes)</span>
        </a>
      </p>
    </main>
  );
}
