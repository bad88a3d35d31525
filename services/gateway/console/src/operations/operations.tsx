import { useEffect, useState } from 'preact/hooks';
import { NoticesProvider } from '../elements/notices.tsx';
import { useRoute } from '../route.ts';
import type { OperatorsError } from './api/operators-error.ts';
import { takeCode } from './code.ts';
import { OperatorsShell } from './shell/operators-shell.tsx';
import { SignIn } from './sign-in.tsx';

export const isOfOperators = (name: string): boolean => name === 'operations' || name.startsWith('operations/');

/** The operators' application. Its token is separate, and kept in memory only. */
export function Operations() {
  const { name } = useRoute();
  const [token, setToken] = useState<string>();
  const [code, setCode] = useState(takeCode);
  const [refusal, setRefusal] = useState<OperatorsError>();
  // The address from the terminal may be opened in a tab that already shows this page.
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
