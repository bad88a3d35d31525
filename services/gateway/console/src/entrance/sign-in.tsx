import { useClient } from '../client-context.ts';
import { Form } from '../elements/form.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { EmailField } from './email-field.tsx';
import { ProviderButton } from './provider-button.tsx';
import { StaySignedIn } from './stay-signed-in.tsx';
import type { WayInProps } from './way-in.ts';

const FIELDS = ['email', 'password'];

export function SignIn({ storage, email, onEmail }: WayInProps) {
  const client = useClient();
  const { run, isBusy, error } = useAction(async ({ email = '', password = '', stay }: Record<string, string>) => {
    requireFilled({ email, password }, { email: 'Type your e-mail address.', password: 'Type your password.' });
    await storage.stay(stay !== undefined, () => client.signIn({ email, password }));
  });
  return (
    <>
      <Form label="Sign in" onSubmit={(values) => void run(values)} error={error} fields={FIELDS}>
        <EmailField email={email} onEmail={onEmail} error={error} />
        <PasswordField
          label="Password"
          name="password"
          autocomplete="current-password"
          error={issueOf(error, 'password')}
        />
        <StaySignedIn />
        <button type="submit" class="primary wide" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </Form>
      <ProviderButton />
      <p class="other-ways">
        <a href="#/recover">Forgot your password?</a>
        <a href="#/sign-up">Create an account</a>
      </p>
    </>
  );
}
