import { TaskmeshError } from '@taskmesh/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Form, PasswordField, Submit } from '../elements/form.tsx';
import { Brand, Button, Loading, useTitle } from '../elements/view.tsx';
import { explain } from '../requests/explain.ts';
import { useSending } from '../requests/use-action.ts';
import { explainRefusal, withoutCode, type Arrival } from '../session/arrival.ts';
import type { ConsoleStorage } from '../session/console-storage.ts';

export interface FinishSignInProps {
  arrival: Arrival;
  storage: ConsoleStorage;
  /** Called with an explanation if the sign-in failed. */
  onEnd: (problem?: string) => void;
}

/** Exchanges the provider's response for a session. If an account with this address exists, first asks for its password. */
export function FinishSignIn({ arrival: { pending, result }, storage, onEnd }: FinishSignInProps) {
  const client = useClient();
  const [why, setWhy] = useState<string>();
  const signIn = (code: string, password?: string) =>
    withoutCode(storage.stay(pending.stay, () => client.signInWithCode(code, password)));
  useEffect(() => {
    if (!('code' in result)) return onEnd(explainRefusal(result));
    signIn(result.code).then(
      () => onEnd(),
      (error: unknown) => {
        const isLinkNeeded = error instanceof TaskmeshError && error.code === 'LINK_REQUIRED';
        (isLinkNeeded ? setWhy : onEnd)(explain(error));
      },
    );
    return undefined;
  }, []);
  if (why === undefined || !('code' in result)) return <Loading />;
  const { code } = result;
  return <LinkAccount why={why} signIn={(password) => signIn(code, password)} onEnd={() => onEnd()} />;
}

interface LinkAccountProps {
  /** The server's message, which names the account. */
  why: string;
  signIn: (password: string) => Promise<unknown>;
  onEnd: () => void;
}

/** An e-mail address at the provider does not prove ownership of the account here; its password does. */
function LinkAccount({ why, signIn, onEnd }: LinkAccountProps) {
  const main = useRef<HTMLElement>(null);
  const action = useSending({ password: 'Type your password.' }, async ({ password = '' }) => {
    await signIn(password);
    onEnd();
  });
  useTitle('Link your account');
  useEffect(() => main.current?.querySelector('input')?.focus(), []);
  return (
    <main class="entrance" ref={main}>
      <Brand />
      <h1>Link your account</h1>
      <p class="lead">{why} It proves that the account is yours. After that, you can sign in either way.</p>
      <Form label="Link your account" action={action}>
        <PasswordField label="Password" />
        <Submit text="Link and sign in" class="primary wide" busy="Signing in…" />
        <Button text="Cancel" class="quiet wide" onClick={onEnd} />
      </Form>
      <p class="other-ways">
        <a href="#/recover" target="_blank">
          Forgot your password? <span class="soft">(opens a new tab: come back within ten minutes)</span>
        </a>
      </p>
    </main>
  );
}
