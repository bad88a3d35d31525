import { useEffect, useState } from 'preact/hooks';
import { NoticesProvider } from '../elements/notices.tsx';
import { useRoute } from '../route.ts';
import type { OperatorsError } from './api/operators-error.ts';
import { takeCode } from './code.ts';
import { OperatorsShell } from './shell/operators-shell.tsx';
import { SignIn } from './sign-in.tsx';

export const isOfOperators = (name: string): boolean => name === 'operations' || name.startsWith('operations/');

/** What operators have, apart from what people have: another token, which is kept in memory only. */
export function Operations() {
  const { name } = useRoute();
  const [token, setToken] = useState<string>();
  const [code, setCode] = useState(takeCode);
  const [refusal, setRefusal] = useState<OperatorsError>();
  // Somebody may open the address of the terminal in a tab that is here already.
  useEffect(() => {
    const take = () => setCode((before) => takeCode() ?? before);
    addEventListener('hashchange', take);
    return () => removeEventListener('hashchange', take);
  }, []);
  if (token === undefined)
    return (
      <SignIn
        key={code}
        code={code}
        refusal={refusal}
        onSignedIn={(next) => {
          setRefusal(undefined);
          setToken(next);
        }}
      />
    );
  const leave = (error?: OperatorsError) => {
    setCode(undefined);
    setRefusal(error);
    setToken(undefined);
  };
  return (
    <NoticesProvider>
      <OperatorsShell token={token} name={name} onRefused={leave} onSignOut={() => leave()} />
    </NoticesProvider>
  );
}
