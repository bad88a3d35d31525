import { useEffect, useRef } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { TextField } from '../elements/field.tsx';
import { Form } from '../elements/form.tsx';
import { useTell } from '../elements/notices.tsx';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';

const FIELDS = ['token'];

export interface ConfirmEmailProps {
  /** From the mail's link; empty when the user has not opened it yet. */
  token: string;
  onConfirmed: () => void;
}

/** The session identifies the account, so the token from the mail is enough. */
export function ConfirmEmail({ token, onConfirmed }: ConfirmEmailProps) {
  const client = useClient();
  const tell = useTell();
  const part = useRef<HTMLDivElement>(null);
  const { run, isBusy, error } = useAction(async (given: string) => {
    requireFilled({ token: given }, { token: 'Type the token from the e-mail.' });
    await client.confirmEmailChange(given);
    tell({ text: 'Your address is changed. From now on, sign in with the new one.' });
    onConfirmed();
  });
  useEffect(() => {
    if (token !== '') part.current?.querySelector('button')?.focus();
  }, [token]);
  return (
    <div ref={part} class="part">
      <Form
        key={token}
        label="Confirm the new address"
        onSubmit={(values) => void run((values.token ?? '').trim())}
        error={error}
        fields={FIELDS}
      >
        <TextField
          label="Token from the e-mail"
          name="token"
          autocomplete="one-time-code"
          defaultValue={token}
          error={issueOf(error, 'token')}
        />
        <button type="submit" disabled={isBusy}>
          Confirm the new address
        </button>
      </Form>
    </div>
  );
}
