import { useEffect, useState } from 'preact/hooks';
import { NoticesProvider } from '../elements/notices.tsx';
import { useRoute } from '../route.ts';
import type { OperatorsError } from './api/operators-error.ts';
import { OperatorsShell } from './shell/operators-shell.tsx';
import { SignIn } from './sign-in.tsx';
import { takeToken } from './token.ts';

export const isOfOperators = (name: string): boolean => name === 'operations' || name.startsWith('operations/');

/** What operators have, apart from what people have: another token, which is kept in memory only. */
export function Operations() {
  const { name } = useRoute();
  const [token, setToken] = useState<string>();
  const [given, setGiven] = useState(takeToken);
  const [refusal, setRefusal] = useState<OperatorsError>();
  // Somebody may open the address of the terminal in a tab that is here already.
  useEffect(() => {
    const take = () => setGiven((before) => takeToken() ?? before);
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  if (token === undefined)
    return (
      <SignIn
        key={given}
        given={given}
        refusal={refusal}
        onSignedIn={(next) => {
          setGiven(undefined);
          setRefusal(undefined);
          setToken(next);
        }}
      />
    );
  const leave = (error?: OperatorsError) => {
    setRefusal(error);
    setToken(undefined);
  };
  return (
    <NoticesProvider>
      <OperatorsShell token={token} name={name} onRefused={leave} onSignOut={() => leave()} />
    </NoticesProvider>
  );
}
