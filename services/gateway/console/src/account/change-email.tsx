import { REQUEST_EMAIL_CHANGE } from '@taskmesh/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Form, PasswordField, Submit, TextField } from '../elements/form.tsx';
import { useNotify } from '../elements/notices.tsx';
import { focusHeading, Section } from '../elements/view.tsx';
import { useSending } from '../requests/use-action.ts';
import { replaceQuery, useRoute } from '../route.ts';
import { FirstPassword } from './first-password.tsx';

const SENTENCES = { email: 'Type the new address.', password: 'Type your password.' };

/** The new address takes effect once the signed-in user confirms it with the token from the e-mail. */
export function ChangeEmail({ email: current, onChanged }: { email: string; onChanged: () => void }) {
  const client = useClient();
  const { name, query } = useRoute();
  const [token, setToken] = useState('');
  useEffect(() => {
    const given = query.get('token');
    if (given === null) return;
    setToken(given);
    replaceQuery(name, new URLSearchParams()); // keeps the token out of bookmarks and screenshots
  }, [name, query]);
  const [sentTo, setSentTo] = useState<string>();
  const action = useSending(SENTENCES, async ({ email = '', password = '' }, form) => {
    await client.request(REQUEST_EMAIL_CHANGE, { input: { email, password } });
    setSentTo(email);
    form.reset();
  });
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
      <Form label="E-mail address" action={action}>
        <TextField label="New address" name="email" type="email" autocomplete="email" />
        <PasswordField label="Your password" />
        <Submit text="Send the link" />
      </Form>
      <FirstPassword error={action.error} email={current} />
    </Section>
  );
}

interface ConfirmEmailProps {
  /** The token from the link in the e-mail; empty if the user has not opened it. */
  token: string;
  onConfirmed: () => void;
}

/** Needs no password: the session identifies the account, and the token proves the new address. */
function ConfirmEmail({ token: given, onConfirmed }: ConfirmEmailProps) {
  const client = useClient();
  const notify = useNotify();
  const part = useRef<HTMLDivElement>(null);
  const action = useSending({ token: 'Type the token from the e-mail.' }, async ({ token = '' }) => {
    await client.confirmEmailChange(token.trim());
    notify({ text: 'Your address is changed. From now on, sign in with the new one.' });
    onConfirmed();
  });
  useEffect(() => {
    if (given !== '') part.current?.querySelector('button')?.focus();
  }, [given]);
  return (
    <div ref={part} class="part">
      <Form key={given} label="Confirm the new address" action={action}>
        <TextField label="Token from the e-mail" name="token" autocomplete="one-time-code" defaultValue={given} />
        <Submit text="Confirm the new address" />
      </Form>
    </div>
  );
}
