import { DELETE_ACCOUNT } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { ConfirmLosses } from '../elements/confirm-losses.tsx';
import { TextField } from '../elements/field.tsx';
import { Form } from '../elements/form.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { Section } from '../elements/view.tsx';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { FirstPassword } from './first-password.tsx';

const FIELDS = ['password', 'typed'];

export interface DeleteAccountProps {
  email: string;
  /** What would be lost besides the server's data. */
  findLosses: () => readonly string[];
  onDeleted: () => Promise<void>;
}

/** Needs the password and the typed address, so that nobody deletes an account by accident. */
export function DeleteAccount({ email, findLosses, onDeleted }: DeleteAccountProps) {
  const client = useClient();
  const [asked, setAsked] = useState<{ values: Record<string, string>; losses: readonly string[] }>();
  const { run, isBusy, error } = useAction(async (values: Record<string, string>, may?: 'lose') => {
    const { typed = '', password = '' } = values;
    const isSame = typed.trim().toLowerCase() === email.toLowerCase();
    requireFilled(
      { password, typed: isSame ? typed : '' },
      { password: 'Type your password.', typed: 'That is not the address of this account.' },
    );
    const losses = may === 'lose' ? [] : findLosses();
    if (losses.length > 0) return setAsked({ values, losses });
    await client.request(DELETE_ACCOUNT, { input: { password } });
    await onDeleted();
  });
  return (
    <Section title="Delete account">
      <p>
        Your account is deleted at once and for good, with all its tasks, sessions and tokens. Every device is signed
        out. Nobody can bring it back: download your data first if you want to keep any of it.
      </p>
      <p class="soft">
        What remains: a record that there was an account, without your name and address, and whatever the backups and
        logs of this installation contain until they expire.
      </p>
      <Form label="Delete account" onSubmit={(values) => void run(values)} error={error} fields={FIELDS}>
        <PasswordField
          label="Confirm with your password"
          name="password"
          autocomplete="current-password"
          error={issueOf(error, 'password')}
        />
        <TextField
          label="Type your e-mail address"
          name="typed"
          autocomplete="off"
          hint={email}
          error={issueOf(error, 'typed')}
        />
        <button type="submit" class="danger" disabled={isBusy}>
          {isBusy ? 'Deleting…' : 'Delete the account'}
        </button>
      </Form>
      <FirstPassword error={error} email={email} />
      {asked && (
        <ConfirmLosses
          title="Delete the account, and drop what is not saved?"
          action="Drop and delete"
          losses={asked.losses}
          onConfirm={() => {
            setAsked(undefined);
            void run(asked.values, 'lose');
          }}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </Section>
  );
}
