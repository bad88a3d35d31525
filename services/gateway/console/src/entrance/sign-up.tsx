import { useClient } from '../client-context.ts';
import { TextField } from '../elements/field.tsx';
import { Form } from '../elements/form.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { issueOf } from '../requests/explain.ts';
import { useAction } from '../requests/use-action.ts';
import { EmailField } from './email-field.tsx';
import { ProviderButton } from './provider-button.tsx';
import { StaySignedIn } from './stay-signed-in.tsx';
import type { WayInProps } from './way-in.ts';

const FIELDS = ['name', 'email', 'password'];

export function SignUp({ storage, email, onEmail }: WayInProps) {
  const client = useClient();
  const { run, isBusy, error } = useAction(
    async ({ name = '', email = '', password = '', stay }: Record<string, string>) => {
      await storage.stay(stay !== undefined, () => client.signUp({ name, email, password }));
    },
  );
  return (
    <>
      <Form label="Create an account" onSubmit={(values) => void run(values)} error={error} fields={FIELDS}>
        <TextField label="Name" name="name" autocomplete="name" error={issueOf(error, 'name')} />
        <EmailField email={email} onEmail={onEmail} error={error} />
        <PasswordField
          label="Password"
          name="password"
          autocomplete="new-password"
          hint="A few words that only you would put together make a good one."
          error={issueOf(error, 'password')}
        />
        <StaySignedIn />
        <button type="submit" class="primary wide" disabled={isBusy}>
          {isBusy ? 'Creating your account…' : 'Create the account'}
        </button>
      </Form>
      <ProviderButton />
      <p class="other-ways">
        <a href="#/sign-in">I have an account: sign in</a>
      </p>
    </>
  );
}
