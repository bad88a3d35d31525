import { useEffect, useMemo, useState } from 'preact/hooks';
import { NoticesProvider } from '../elements/notices.tsx';
import { Button } from '../elements/view.tsx';
import { addressOf, currentRoute, useRoute } from '../route.ts';
import { Frame, type ViewEntry } from '../shell/frame.tsx';
import { ApiContext, createOperatorsApi } from './api/operators-api.ts';
import type { OperatorsError } from './api/read-lines.ts';
import { BackupsView } from './backups/backups-view.tsx';
import { DeadLettersView } from './dead-letters-view.tsx';
import { OverviewView } from './overview/overview-view.tsx';
import { SignIn } from './sign-in.tsx';
import { useWork, WorkContext } from './work/work.tsx';

const OVERVIEW: ViewEntry = { name: 'operations', title: 'Overview', icon: 'pulse', Component: OverviewView };

const VIEWS: readonly ViewEntry[] = [
  OVERVIEW,
  { name: 'operations/backups', title: 'Backups', icon: 'archive', Component: BackupsView },
  { name: 'operations/dead-letters', title: 'Dead letters', icon: 'letter', Component: DeadLettersView },
];

export const isOfOperators = (name: string): boolean => name === 'operations' || name.startsWith('operations/');

/** The operators' application. Its token is separate from user sessions, and kept in memory only. */
export function Operations() {
  const { name } = useRoute();
  const [token, setToken] = useState<string>();
  const [code, setCode] = useState(consumeCode);
  const [refusal, setRefusal] = useState<OperatorsError>();
  // An operator may open the address from the terminal in a tab that already shows this page.
  useEffect(() => {
    const take = () => setCode((before) => consumeCode() ?? before);
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
      <Signed token={token} name={name} onRefused={leave} onSignOut={() => leave()} />
    </NoticesProvider>
  );
}

interface SignedProps {
  token: string;
  /** The name of the view in the address. */
  name: string;
  onRefused: (error: OperatorsError) => void;
  onSignOut: () => void;
}

/** Owns the long operation, which therefore continues when another view is opened. */
function Signed({ token, name, onRefused, onSignOut }: SignedProps) {
  const api = useMemo(() => createOperatorsApi({ token, onRefused }), [token]);
  const work = useWork(api);
  const view = VIEWS.find((each) => each.name === name) ?? OVERVIEW;
  return (
    <ApiContext.Provider value={api}>
      <WorkContext.Provider value={work}>
        <Frame
          home={{ href: '#/operations', 'aria-label': 'Taskmesh: operations' }}
          views={VIEWS}
          view={view}
          addressOf={addressOf}
          who={
            <>
              <span class="name">Operator</span>
              <Button text="Sign out" class="quiet" onClick={onSignOut} />
            </>
          }
          isWide
        >
          <view.Component />
        </Frame>
      </WorkContext.Provider>
    </ApiContext.Provider>
  );
}

/**
 * Reads the one-time code from the address (`#/operations?code=`), and removes it there, to keep it out of bookmarks and
 * screenshots. If the browser's history keeps the address, the code in it has already been used.
 */
function consumeCode(): string | undefined {
  const { name, query } = currentRoute();
  const code = query.get('code');
  if (code === null || !isOfOperators(name)) return undefined;
  history.replaceState(history.state, '', addressOf(name));
  return code;
}
