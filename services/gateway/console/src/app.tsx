import type { Client } from '@taskmesh/client';
import { useUser } from '@taskmesh/client/react';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ClientContext } from './client-context.ts';
import { Loading } from './elements/loading.tsx';
import { NoticesProvider } from './elements/notices.tsx';
import { Entrance, leaveWayIn } from './entrance/entrance.tsx';
import { FinishSignIn } from './entrance/finish-sign-in.tsx';
import type { Arrival } from './session/arrival.ts';
import type { ConsoleStorage } from './session/console-storage.ts';
import { createProvider, ProviderContext } from './session/provider.ts';
import { useFarewell } from './session/use-farewell.ts';
import { Shell } from './shell/shell.tsx';

export interface AppProps {
  client: Client;
  storage: ConsoleStorage;
  /** Present when the user comes back from the sign-in provider. */
  arrival: Arrival | undefined;
}

/** The views for signed-in users, and the sign-in forms for all others. */
export function App({ client, storage, arrival: first }: AppProps) {
  const user = useUser(client);
  const { farewell, expectEnd, sayDeleted } = useFarewell(user);
  const [arrival, setArrival] = useState(first);
  const [problem, setProblem] = useState<string>();
  const provider = useMemo(() => createProvider({ client, storage }), [client, storage]);
  useEffect(() => {
    if (!user) return;
    setProblem(undefined);
    leaveWayIn();
  }, [user]);
  const leave = () => {
    location.hash = ''; // the next user begins with their tasks
    return client.signOut();
  };
  const signOut = () => {
    expectEnd();
    return leave();
  };
  const leaveDeleted = () => {
    sayDeleted();
    return leave();
  };
  const isArriving = arrival?.errand.linkTo === null;
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
        {!isArriving && user === null && <Entrance storage={storage} farewell={farewell} problem={problem} />}
        {!isArriving && user && (
          <NoticesProvider key={user.id}>
            <Shell user={user} onSignOut={signOut} onDeleted={leaveDeleted} />
          </NoticesProvider>
        )}
      </ProviderContext.Provider>
    </ClientContext.Provider>
  );
}
