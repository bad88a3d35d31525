import type { Client } from '@taskmesh/client';
import { useUser } from '@taskmesh/client/react';
import { ClientContext } from './client-context.ts';
import { Loading } from './elements/loading.tsx';
import { NoticesProvider } from './elements/notices.tsx';
import { Entrance } from './entrance/entrance.tsx';
import type { ConsoleStorage } from './session/console-storage.ts';
import { useEndedSession } from './session/use-ended-session.ts';
import { Shell } from './shell/shell.tsx';

/** For whoever is signed in the views, for everybody else the ways in. */
export function App({ client, storage }: { client: Client; storage: ConsoleStorage }) {
  const user = useUser(client);
  const { hasEnded, expectEnd } = useEndedSession(user);
  const signOut = () => {
    expectEnd();
    location.hash = ''; // whoever comes next begins with their tasks
    return client.signOut();
  };
  return (
    <ClientContext.Provider value={client}>
      {user === undefined && <Loading />}
      {user === null && <Entrance storage={storage} hasEnded={hasEnded} />}
      {user && (
        <NoticesProvider key={user.id}>
          <Shell user={user} onSignOut={signOut} />
        </NoticesProvider>
      )}
    </ClientContext.Provider>
  );
}
