import { DELETE_ACCOUNT } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Confirm } from '../elements/confirm.tsx';
import { TextField } from '../elements/field.tsx';
import { Form } from '../elements/form.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { Section } from '../elements/view.tsx';
import { issueOf } from '../requests/explain.ts';
import { otherThan } from '../requests/other-issues.ts';
import { useAction } from '../requests/use-action.ts';
import { FirstPassword } from './first-password.tsx';

/** Nobody deletes their account by a slip: it takes the password, and the address typed. */
export function DeleteAccount({ email, onDeleted }: { email: string; onDeleted: () => Promise<void> }) {
  const client = useClient();
  const [isOther, setIsOther] = useState(false);
  const [withPassword, setWithPassword] = useState<string>();
  const { run, isBusy, error } = useAction(async (password: string) => {
    await client.request(DELETE_ACCOUNT, { input: { password } });
    await onDeleted();
  });
  const begin = ({ typed = '', password = '' }: Record<string, string>) => {
    const isSame = typed.trim().toLowerCase() === email.toLowerCase();
    setIsOther(!isSame);
    if (!isSame) return;
    if (client.pendingWrites() === 0) void run(password);
    else setWithPassword(password);
  };
  return (
    <Section title="Delete account">
      <p>
        Your account goes at once and for good, with all tasks, sessions and tokens. Every device is signed out. Nobody
        can bring it back: download your data before, if you want to keep something.
      </p>
      <p class="soft">
        What remains: that there was an account, without your name and address, and what backups and logs of this
        installation contain until they expire.
      </p>
      <Form label="Delete account" onSubmit={begin} error={otherThan(['password'], error)}>
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
          error={isOther ? 'That is not the address of this account.' : undefined}
        />
        <button type="submit" class="danger" disabled={isBusy}>
          {isBusy ? 'Deleting…' : 'Delete the account'}
        </button>
      </Form>
      <FirstPassword error={error} email={email} />
      {withPassword !== undefined && (
        <Confirm
          title="Delete the account, and drop what was not sent?"
          action="Drop and delete"
          onConfirm={() => {
            setWithPassword(undefined);
            void run(withPassword);
          }}
          onCancel={() => setWithPassword(undefined)}
        >
          <p>There are changes that have not reached the server yet. They go with the account.</p>
        </Confirm>
      )}
    </Section>
  );
}
