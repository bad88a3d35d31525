import { TaskmeshError } from '@taskmesh/client';
import { useEffect, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Loading } from '../elements/loading.tsx';
import { explain } from '../requests/explain.ts';
import { explainRefusal, withoutCode, type Arrival } from '../session/arrival.ts';
import type { ConsoleStorage } from '../session/console-storage.ts';
import { LinkAccount } from './link-account.tsx';

export interface FinishSignInProps {
  arrival: Arrival;
  storage: ConsoleStorage;
  /** Called with an explanation if the sign-in failed. */
  onEnd: (problem?: string) => void;
}

/** Exchanges the provider's answer for a session. If an account has the address already, its password is asked for first. */
export function FinishSignIn({ arrival: { errand, answer }, storage, onEnd }: FinishSignInProps) {
  const client = useClient();
  const [why, setWhy] = useState<string>();
  const signIn = (code: string, password?: string) =>
    storage.stay(errand.stay, () => client.signInWithCode(code, password));
  useEffect(() => {
    if (!('code' in answer)) return onEnd(explainRefusal(answer));
    signIn(answer.code).then(
      () => onEnd(),
      (error: unknown) => {
        const isLinkNeeded = error instanceof TaskmeshError && error.code === 'LINK_REQUIRED';
        if (isLinkNeeded) setWhy(explain(error));
        else onEnd(explain(withoutCode(error)));
      },
    );
    return undefined;
  }, []);
  if (why === undefined || !('code' in answer)) return <Loading />;
  const { code } = answer;
  return <LinkAccount why={why} signIn={(password) => signIn(code, password)} onEnd={() => onEnd()} />;
}
