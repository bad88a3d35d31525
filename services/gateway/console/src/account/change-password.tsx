import { CHANGE_PASSWORD } from '@taskmesh/client';
import { useClient } from '../client-context.ts';
import { Form } from '../elements/form.tsx';
import { useTell } from '../elements/notices.tsx';
import { PasswordField } from '../elements/password-field.tsx';
import { Section } from '../elements/view.tsx';
import { issueOf } from '../requests/explain.ts';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction } from '../requests/use-action.ts';
import { FirstPassword } from './first-password.tsx';

const FIELDS = ['currentPassword', 'newPassword'];

export function ChangePassword({ email }: { email: string }) {
  const client = useClient();
  const tell = useTell();
  const { run, isBusy, error } = useAction(
    async (input: { currentPassword: string; newPassword: string }, form: HTMLFormElement) => {
      requireFilled(input, { currentPassword: 'Type your current password.', newPassword: 'Type the new password.' });
      await client.request(CHANGE_PASSWORD, { input });
      form.reset();
      tell({ text: 'Your password is changed. All other sessions have ended.' });
    },
  );
  return (
    <Section title="Password">
      <Form
        label="Password"
        onSubmit={({ currentPassword = '', newPassword = '' }, form) =>
          void run({ currentPassword, newPassword }, form)
        }
        error={error}
        fields={FIELDS}
      >
        {/* Tells password managers whose password this is. */}
        <input type="text" name="username" autocomplete="username" value={email} readOnly hidden />
        <PasswordField
          label="Current password"
          name="currentPassword"
          autocomplete="current-password"
          error={issueOf(error, 'currentPassword')}
        />
        <PasswordField
          label="New password"
          name="newPassword"
          autocomplete="new-password"
          hint="Changing it ends all your other sessions."
          error={issueOf(error, 'newPassword')}
        />
        <button type="submit" disabled={isBusy}>
          Change the password
        </button>
      </Form>
      <FirstPassword error={error} email={email} />
    </Section>
  );
}
