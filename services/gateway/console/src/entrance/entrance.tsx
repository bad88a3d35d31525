import { useEffect, useRef } from 'preact/hooks';
import { Brand } from '../elements/brand.tsx';
import { useTitle } from '../elements/use-title.ts';
import { useRoute } from '../route.ts';
import { Recover } from './recover.tsx';
import { SignIn } from './sign-in.tsx';
import { SignUp } from './sign-up.tsx';
import type { WayInProps } from './way-in.ts';

/** The ways in: by the address's fragment, sign-in unless it names another one. */
const WAYS = {
  'sign-in': { title: 'Sign in', Form: SignIn },
  'sign-up': { title: 'Create an account', Form: SignUp },
  recover: { title: 'Forgotten password', Form: Recover },
};

export function Entrance({ storage, hasEnded }: WayInProps & { hasEnded: boolean }) {
  const { name } = useRoute();
  const { title, Form } = WAYS[name in WAYS ? (name as keyof typeof WAYS) : 'sign-in'];
  const main = useRef<HTMLElement>(null);
  useTitle(title);
  useEffect(() => main.current?.querySelector('input')?.focus(), [title]);
  return (
    <main class="entrance" ref={main}>
      <Brand />
      <h1>{title}</h1>
      {hasEnded && (
        <p class="note" role="alert">
          You were signed out: your session has ended here, or was ended on another device. Changes that were not sent
          yet go on when you sign in again.
        </p>
      )}
      <Form storage={storage} />
    </main>
  );
}
