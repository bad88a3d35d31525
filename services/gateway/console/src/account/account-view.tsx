import { CHANGE_PASSWORD, DELETE_ACCOUNT, READ_PROFILE, TaskmeshError } from '@taskmesh/client';
import { useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Confirm } from '../elements/confirm.tsx';
import { ActionError, Form, PasswordField, Submit, TextField, type Values } from '../elements/form.tsx';
import { useNotify } from '../elements/notices.tsx';
import { saveAs } from '../elements/save-as.ts';
import { Button, Read, Section, View } from '../elements/view.tsx';
import { requireFilled } from '../requests/require-filled.ts';
import { useAction, useSending } from '../requests/use-action.ts';
import { useReading } from '../requests/use-reading.ts';
import type { ViewProps } from '../shell/desk.tsx';
import { ChangeEmail } from './change-email.tsx';
import { FirstPassword } from './first-password.tsx';
import { WaysToSignIn } from './ways-to-sign-in.tsx';

export function AccountView({ user, findLosses, onDeleted }: ViewProps) {
  const client = useClient();
  const { data, error, again } = useReading(() => client.request(READ_PROFILE, {}), 'profile');
  return (
    <View title="Account">
      <Read reading={{ data, error: data ? undefined : error, again }}>
        {({ me: { name, email } }) => (
          <>
            <ChangeName name={name} />
            <ChangeEmail email={email} onChanged={() => void again()} />
            <ChangePassword email={email} />
            <WaysToSignIn userId={user.id} email={email} />
            <ExportData />
            <DeleteAccount email={email} findLosses={findLosses} onDeleted={onDeleted} />
          </>
        )}
      </Read>
    </View>
  );
}

function ChangeName({ name }: { name: string }) {
  const client = useClient();
  const notify = useNotify();
  const action = useSending({}, async ({ name: next = '' }) => {
    await client.changeName(next);
    notify({ text: 'Your name is changed.' });
  });
  return (
    <Section title="Name">
      <Form label="Name" action={action}>
        <TextField label="Display name" name="name" autocomplete="name" defaultValue={name} />
        <Submit text="Save the name" />
      </Form>
    </Section>
  );
}

const PASSWORDS = { currentPassword: 'Type your current password.', newPassword: 'Type the new password.' };

function ChangePassword({ email }: { email: string }) {
  const client = useClient();
  const notify = useNotify();
  const action = useSending(PASSWORDS, async ({ currentPassword = '', newPassword = '' }, form) => {
    await client.request(CHANGE_PASSWORD, { input: { currentPassword, newPassword } });
    form.reset();
    notify({ text: 'Your password is changed. All other sessions have ended.' });
  });
  return (
    <Section title="Password">
      <Form label="Password" action={action}>
        {/* Lets password managers know which account the password belongs to. */}
        <input type="text" name="username" autocomplete="username" value={email} readOnly hidden />
        <PasswordField label="Current password" name="currentPassword" />
        <PasswordField
          label="New password"
          name="newPassword"
          autocomplete="new-password"
          hint="Changing it ends all your other sessions."
        />
        <Submit text="Change the password" />
      </Form>
      <FirstPassword error={action.error} email={email} />
    </Section>
  );
}

const FILE = 'taskmesh-account.json';

function ExportData() {
  const client = useClient();
  const action = useAction(async () => {
    const response = await client.fetch('/api/auth/export');
    const content = await response.blob().catch((cause: unknown) => {
      throw new TaskmeshError('NETWORK', 'The download broke off.', { cause });
    });
    saveAs(FILE, content);
  });
  return (
    <Section title="Your data">
      <p>Everything that is stored about you, in one file (JSON): profile, sessions, tokens, activity and tasks.</p>
      <Button icon="download" text="Download your data" busy="Collecting…" runs={action} />
      <ActionError error={action.error} />
    </Section>
  );
}

/** Requires the password and the typed e-mail address, so that no account is deleted by accident. */
function DeleteAccount({
  email,
  findLosses,
  onDeleted,
}: { email: string } & Pick<ViewProps, 'findLosses' | 'onDeleted'>) {
  const client = useClient();
  const [asked, setAsked] = useState<{ values: Values; form: HTMLFormElement; losses: readonly string[] }>();
  const action = useAction(async (values: Values, form: HTMLFormElement, may?: 'lose') => {
    const { typed = '', password = '' } = values;
    const isSame = typed.trim().toLowerCase() === email.toLowerCase();
    requireFilled(
      { password, typed: isSame ? typed : '' },
      { password: 'Type your password.', typed: 'That is not the address of this account.' },
    );
    const losses = may === 'lose' ? [] : findLosses();
    if (losses.length > 0) return setAsked({ values, form, losses });
    await client.request(DELETE_ACCOUNT, { input: { password } });
    await onDeleted();
  });
  return (
    <Section title="Delete account">
      <p>
        Your account is deleted at once and for good, with all its tasks, sessions and tokens. Every device is signed
        out. No one can bring it back: download your data first if you want to keep any of it.
      </p>
      <p class="soft">
        What remains: a record that there was an account, without your name and address, and what the backups and logs
        of this installation contain until they expire.
      </p>
      <Form label="Delete account" action={action}>
        <PasswordField label="Confirm with your password" />
        <TextField label="Type your e-mail address" name="typed" autocomplete="off" hint={email} />
        <Submit text="Delete the account" class="danger" busy="Deleting…" />
      </Form>
      <FirstPassword error={action.error} email={email} />
      {asked && (
        <Confirm
          title="Delete the account, and drop what is not saved?"
          action="Drop and delete"
          losses={asked.losses}
          onConfirm={() => {
            setAsked(undefined);
            void action.run(asked.values, asked.form, 'lose');
          }}
          onCancel={() => setAsked(undefined)}
        />
      )}
    </Section>
  );
}
