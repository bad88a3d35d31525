import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { ActionError, Form, PasswordField, Problem, Submit, TextField } from '../elements/form.tsx';
import { Brand, Button, useTitle } from '../elements/view.tsx';
import { useAction, useSending } from '../requests/use-action.ts';
import { addressOf, currentRoute, useRoute } from '../route.ts';
import type { ConsoleStorage } from '../session/console-storage.ts';
import { useProvider, useProviderName } from '../session/provider.ts';
import type { SignOutReason } from '../session/use-sign-out-notice.ts';

/** The forms by the name in the address. Sign-in is the default. */
const FORMS = {
  'sign-in': { title: 'Sign in', EntranceForm: SignIn },
  'sign-up': { title: 'Create an account', EntranceForm: SignUp },
  recover: { title: 'Reset your password', EntranceForm: Recover },
};

/** After a sign-in, replaces the address of the form, so that a later sign-out leads to the sign-in form. */
export function leaveEntrance(): void {
  if (Object.hasOwn(FORMS, currentRoute().name)) location.replace(addressOf('tasks'));
}

export interface EntranceProps {
  storage: ConsoleStorage;
  signOutReason: SignOutReason | undefined;
  /** Why the provider sign-in failed, or why the user is not signed in. */
  problem: string | undefined;
}

export function Entrance({ storage, signOutReason, problem }: EntranceProps) {
  const { name } = useRoute();
  const { title, EntranceForm } = FORMS[Object.hasOwn(FORMS, name) ? (name as keyof typeof FORMS) : 'sign-in'];
  const main = useRef<HTMLElement>(null);
  const email = useRef('');
  useTitle(title);
  useEffect(() => main.current?.querySelector('input')?.focus(), [title]);
  return (
    <main class="entrance" ref={main}>
      <Brand />
      <p class="soft">Your tasks, live on every device.</p>
      <h1>{title}</h1>
      {signOutReason && <SignOutNotice reason={signOutReason} />}
      <Problem class="note" text={problem} />
      <EntranceForm storage={storage} email={email.current} onEmail={(typed) => void (email.current = typed)} />
      <p class="operators-way">
        <a href="#/operations" target="_blank">
          For operators
        </a>
      </p>
    </main>
  );
}

/** Explains why the last session ended. */
function SignOutNotice({ reason }: { reason: SignOutReason }) {
  return reason === 'deleted' ? (
    <p class="note good" role="status">
      Your account is deleted, with everything in it. You are signed out everywhere.
    </p>
  ) : (
    <p class="note" role="alert">
      You were signed out: your session has ended here, or was ended on another device. When you sign in again, unsent
      changes are sent (unless you signed out in another tab), and what you typed is still there.
    </p>
  );
}

interface EntranceFormProps {
  storage: ConsoleStorage;
  /** The e-mail address typed so far, shared by all forms. */
  email: string;
  onEmail: (email: string) => void;
}

const TYPE_EMAIL = 'Type your e-mail address.';

function SignIn({ storage, ...emails }: EntranceFormProps) {
  const client = useClient();
  const sentences = { email: TYPE_EMAIL, password: 'Type your password.' };
  const action = useSending(sentences, ({ email = '', password = '', stay }) =>
    storage.stay(stay !== undefined, () => client.signIn({ email, password })),
  );
  return (
    <>
      <Form label="Sign in" action={action}>
        <EmailField {...emails} />
        <PasswordField label="Password" />
        <StaySignedIn />
        <Submit text="Sign in" class="primary wide" busy="Signing in…" />
      </Form>
      <ProviderButton />
      <p class="other-ways">
        <a href="#/recover">Forgot your password?</a>
        <a href="#/sign-up">Create an account</a>
      </p>
    </>
  );
}

function SignUp({ storage, ...emails }: EntranceFormProps) {
  const client = useClient();
  const action = useSending({}, ({ name = '', email = '', password = '', stay }) =>
    storage.stay(stay !== undefined, () => client.signUp({ name, email, password })),
  );
  return (
    <>
      <Form label="Create an account" action={action}>
        <TextField label="Name" name="name" autocomplete="name" />
        <EmailField {...emails} />
        <PasswordField
          label="Password"
          autocomplete="new-password"
          hint="A few words that only you would put together make a good one."
        />
        <StaySignedIn />
        <Submit text="Create the account" class="primary wide" busy="Creating your account…" />
      </Form>
      <ProviderButton />
      <p class="other-ways">
        <a href="#/sign-in">I have an account: sign in</a>
      </p>
    </>
  );
}

/** Requests an e-mail with a link to choose a new password. */
function Recover({ email, onEmail }: EntranceFormProps) {
  const client = useClient();
  const [sentTo, setSentTo] = useState<string>();
  const action = useSending({ email: TYPE_EMAIL }, async ({ email: to = '' }) => {
    await client.requestPasswordReset(to);
    setSentTo(to);
  });
  return (
    <>
      {sentTo === undefined ? (
        <Form label="Reset your password" action={action}>
          <EmailField email={email} onEmail={onEmail} hint="We will send you a link to choose a new password." />
          <Submit text="Send the link" class="primary wide" busy="Sending…" />
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

/** Identical in all forms, so that browsers autofill it in each. */
function EmailField({ email, onEmail, hint }: Omit<EntranceFormProps, 'storage'> & { hint?: string }) {
  const texts = { label: 'E-mail', name: 'email', type: 'email', autocomplete: 'username', hint } as const;
  return <TextField {...texts} defaultValue={email} onInput={onEmail} />;
}

function StaySignedIn() {
  return (
    <label class="check">
      <input type="checkbox" name="stay" />
      Keep me signed in on this device
    </label>
  );
}

/** Sign-in with the provider, if there is one. It appears late, so it stands below the form, where it moves nothing. */
function ProviderButton() {
  const { provider } = useProvider();
  const name = useProviderName();
  const go = useAction(() => provider.go({ stay: shouldStaySignedIn(), linkTo: null }));
  if (name === undefined) return null;
  return (
    <div class="provider">
      <p class="soft">or</p>
      <Button text={`Continue with ${name}`} class="wide" runs={go} />
      <ActionError error={go.error} />
    </div>
  );
}

/** Reads the checkbox of the form above. */
function shouldStaySignedIn(): boolean {
  return document.querySelector<HTMLInputElement>('input[name=stay]')?.checked ?? false;
}
