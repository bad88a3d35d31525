import { useEffect, useRef } from 'preact/hooks';
import { Brand } from '../elements/brand.tsx';
import { useTitle } from '../elements/use-title.ts';
import { addressOf, currentRoute, useRoute } from '../route.ts';
import type { Farewell } from '../session/use-farewell.ts';
import { LastWord } from './last-word.tsx';
import { Recover } from './recover.tsx';
import { SignIn } from './sign-in.tsx';
import { SignUp } from './sign-up.tsx';
import type { WayInProps } from './way-in.ts';

/** The forms by the address's fragment. Sign-in is the default. */
const WAYS = {
  'sign-in': { title: 'Sign in', Form: SignIn },
  'sign-up': { title: 'Create an account', Form: SignUp },
  recover: { title: 'Reset your password', Form: Recover },
};

/** Leaves the form's address once signed in, so that a later sign-out leads to sign-in. */
export function leaveWayIn(): void {
  if (currentRoute().name in WAYS) location.replace(addressOf('tasks'));
}

export interface EntranceProps extends Pick<WayInProps, 'storage'> {
  farewell: Farewell | undefined;
  /** Why a sign-in at the provider failed, or why nobody is signed in here. */
  problem: string | undefined;
}

export function Entrance({ storage, farewell, problem }: EntranceProps) {
  const { name } = useRoute();
  const { title, Form } = WAYS[name in WAYS ? (name as keyof typeof WAYS) : 'sign-in'];
  const main = useRef<HTMLElement>(null);
  const email = useRef('');
  useTitle(title);
  useEffect(() => main.current?.querySelector('input')?.focus(), [title]);
  return (
    <main class="entrance" ref={main}>
      <Brand />
      <p class="soft">Your tasks, live on every device.</p>
      <h1>{title}</h1>
      {farewell && <LastWord farewell={farewell} />}
      {problem !== undefined && (
        <p class="note" role="alert">
          {problem}
        </p>
      )}
      <Form storage={storage} email={email.current} onEmail={(typed) => void (email.current = typed)} />
      <p class="operators-way">
        <a href="#/operations">For operators</a>
      </p>
    </main>
  );
}
