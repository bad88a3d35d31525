import { REQUEST_EMAIL_CHANGE } from '@taskmesh/client';
import { useEffect, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { TextField } from '../elements/field.tsx';
import { Form } from '../elements/form.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { focusHeading, Section } from '../elements/view.tsx';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { replaceQuery, useRoute } from '../route.ts';
import { ConfirmEmail } from './confirm-email.tsx';
import { FirstPassword } from './first-password.tsx';

const FIELDS = ['email', 'password'];

export interface ChangeEmailProps {
  email: string;
  onChanged: () => void;
}

/** The new address counts once it is confirmed with the token from its mail, by somebody who is signed in. */
export function ChangeEmail({ email: current, onChanged }: ChangeEmailProps) {
  const client = useClient();
  const { name, query } = useRoute();
  const [token, setToken] = useState('');
  useEffect(() => {
    const given = query.get('token');
    if (given === null) return;
    setToken(given);
    replaceQuery(name, new URLSearchParams()); // so that it gets into no bookmark or screenshot
  }, [name, query]);
  const [sentTo, setSentTo] = useState<string>();
  const { run, isBusy, error } = useAction(
    async (input: { email: string; password: string }, form: HTMLFormElement) => {
      requireFilled(input, { email: 'Type the new address.', password: 'Type your password.' });
      await client.request(REQUEST_EMAIL_CHANGE, { input });
      setSentTo(input.email);
      form.reset();
    },
  );
  const end = () => {
    setSentTo(undefined);
    setToken('');
    onChanged();
    focusHeading();
  };
  return (
    <Section title="E-mail address">
      <p>
        You sign in as <strong>{current}</strong>.
      </p>
      {sentTo !== undefined && (
        <p class="note good" role="status">
          An e-mail with a link is on its way to {sentTo}. Your address changes once you have opened the link and
          confirmed.
        </p>
      )}
      {(sentTo !== undefined || token !== '') && <ConfirmEmail token={token} onConfirmed={end} />}
      <Form
        label="E-mail address"
        onSubmit={({ email = '', password = '' }, form) => void run({ email, password }, form)}
        error={error}
        fields={FIELDS}
      >
        <TextField label="New address" name="email" type="email" autocomplete="email" error={issueOf(error, 'email')} />
        <PasswordField
          label="Your password"
          name="password"
          autocomplete="current-password"
          error={issueOf(error, 'password')}
        />
        <button type="submit" disabled={isBusy}>
          Send the link
        </button>
      </Form>
      <FirstPassword error={error} email={current} />
    </Section>
  );
}
