import type { Client } from '@taskmesh/client';
import { useUser } from '@taskmesh/client/react';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ClientContext } from './client-context.ts';
import { useLeaveGuard } from './elements/use-leave-guard.ts';
import { Loading } from './elements/view.tsx';
import { Entrance, leaveEntrance } from './entrance/entrance.tsx';
import { FinishSignIn } from './entrance/finish-sign-in.tsx';
import type { Arrival } from './session/arrival.ts';
import type { ConsoleStorage } from './session/console-storage.ts';
import { createProvider, ProviderContext } from './session/provider.ts';
import { useSignOutNotice } from './session/use-sign-out-notice.ts';
import { Desk, useDeskKey } from './shell/desk.tsx';
import { Shell } from './shell/shell.tsx';

export interface AppProps {
  client: Client;
  storage: ConsoleStorage;
  /** Present when the user comes back from the sign-in provider. */
  arrival: Arrival | undefined;
  /** Why the user is not signed in, as an explanation for the sign-in form. */
  problem: string | undefined;
}

const STILL_STORED = 'This browser may still keep your data. Close its other tabs, then sign in and out again.';

/** The views for signed-in users, and the sign-in forms for all others. */
export function App({ client, storage, arrival: first, problem: before }: AppProps) {
  const user = useUser(client);
  const { signOutReason, expectEnd, reportDeleted } = useSignOutNotice(user);
  const { deskKey, leaveDesk } = useDeskKey(user);
  const [arrival, setArrival] = useState(first);
  const [problem, setProblem] = useState(before);
  const provider = useMemo(() => createProvider({ client, storage }), [client, storage]);
  useEffect(() => {
    if (!user) return;
    setProblem(undefined);
    leaveEntrance();
  }, [user]);
  useLeaveGuard(true, () => client.pendingWrites() > 0 && (storage.endsWithTab() || !client.keepsWrites()));
  const leave = () => {
    leaveDesk();
    location.hash = ''; // the next user starts at their tasks
    return client.signOut().catch(() => setProblem(STILL_STORED));
  };
  const signOut = () => {
    expectEnd();
    return leave();
  };
  const leaveDeleted = () => {
    reportDeleted();
    return leave();
  };
  const isArriving = arrival?.pending.linkTo === null;
  return (
    <ClientContext.Provider value={client}>
      <ProviderContext.Provider value={{ provider, arrival, endArrival: () => setArrival(undefined) }}>
        {isArriving && (
          <FinishSignIn
            arrival={arrival}
            storage={storage}
            onEnd={(next) => {
              setProblem(next);
              setArrival(undefined);
            }}
          />
        )}
        {!isArriving && user === undefined && <Loading />}
        {!isArriving && user !== undefined && (
          <Desk key={deskKey} isOpen={user !== null}>
            {(desk) =>
              user ? (
                <Shell user={user} storage={storage} desk={desk} onSignOut={signOut} onDeleted={leaveDeleted} />
              ) : (
                <Entrance storage={storage} signOutReason={signOutReason} problem={problem} />
              )
            }
          </Desk>
        )}
      </ProviderContext.Provider>
    </ClientContext.Provider>
  );
}
