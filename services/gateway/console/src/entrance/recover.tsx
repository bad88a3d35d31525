import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Form } from '../elements/form.tsx';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { EmailField } from './email-field.tsx';
import type { WayInProps } from './way-in.ts';

const FIELDS = ['email'];

/** Requests the e-mail with the link for a new password. */
export function Recover({ email, onEmail }: WayInProps) {
  const client = useClient();
  const [sentTo, setSentTo] = useState<string>();
  const { run, isBusy, error } = useAction(async (to: string) => {
    requireFilled({ email: to }, { email: 'Type your e-mail address.' });
    await client.requestPasswordReset(to);
    setSentTo(to);
  });
  return (
    <>
      {sentTo === undefined ? (
        <Form label="Reset your password" onSubmit={({ email: to = '' }) => void run(to)} error={error} fields={FIELDS}>
          <EmailField
            email={email}
            onEmail={onEmail}
            hint="We will send you a link to choose a new password."
            error={error}
          />
          <button type="submit" class="primary wide" disabled={isBusy}>
            {isBusy ? 'Sending…' : 'Send the link'}
          </button>
        </Form>
      ) : (
        <p class="note good" role="status">
          If {sentTo} has an account, an e-mail with a link is on its way. The link works once, for a short time.
        </p>
      )}
      <p class="other-ways">
        <a href="#/sign-in">Back to sign in</a>
      </p>
    </>
  );
}
