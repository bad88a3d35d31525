import type { LiveStatus, TaskmeshError, User } from '@taskmesh/client';
import { useSyncExternalStore } from 'preact/compat';
import { useMemo, useState } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { Confirm } from '../elements/confirm.tsx';
import { Button } from '../elements/view.tsx';
import { explain } from '../requests/explain.ts';
import { UnavailableContext, KeptReadingsContext, type KeptReadings } from '../requests/use-reading.ts';
import { addressOf, useRoute } from '../route.ts';
import type { ConsoleStorage } from '../session/console-storage.ts';
import { Conflicts } from '../tasks/conflicts.tsx';
import { queryOf } from '../tasks/filters.ts';
import { useTaskList } from '../tasks/use-task-list.ts';
import type { OnDesk, ViewProps } from './desk.tsx';
import { Frame } from './frame.tsx';
import { lossesOf } from './losses.ts';
import { isUnavailable, useOverview } from './use-overview.ts';
import { VIEWS, viewOf } from './views.ts';

export interface ShellProps {
  user: User;
  storage: ConsoleStorage;
  desk: OnDesk;
  onSignOut: () => Promise<void>;
  onDeleted: () => Promise<void>;
}

/** Everything that stays mounted while the user is signed in. */
export function Shell({ user, storage, desk, onSignOut, onDeleted }: ShellProps) {
  const client = useClient();
  const { name, query } = useRoute();
  const view = viewOf(name);
  const overview = useOverview();
  const list = useTaskList(view.name === 'tasks' ? query : undefined, isUnavailable(overview));
  const readings = useMemo<KeptReadings>(() => new Map(), []);
  const countWrites = () => client.pendingWrites() + (client.keepsWrites() ? 0 : storage.countWrites(user.id));
  const findLosses = () => lossesOf({ pendingWrites: countWrites() + desk.edits.merging(), ...desk });
  return (
    <Frame
      home={{ href: '#/tasks', 'aria-label': 'Taskmesh: to your tasks' }}
      views={VIEWS}
      view={view}
      addressOf={(each) => addressOf(each, each === 'tasks' ? queryOf(list.filters) : undefined)}
      who={
        <>
          <span class="name" title={user.email}>
            {user.name}
          </span>
          <SignOut findLosses={findLosses} onSignOut={onSignOut} />
        </>
      }
    >
      <ConnectionLine status={overview.status} error={overview.error} />
      <Conflicts edits={desk.edits} />
      <KeptReadingsContext.Provider value={readings}>
        <UnavailableContext.Provider value={isUnavailable(overview)}>
          <view.Component {...{ user, overview, list, findLosses, onDeleted, ...desk }} />
        </UnavailableContext.Provider>
      </KeptReadingsContext.Provider>
    </Frame>
  );
}

/** Asks for confirmation if something would be lost. */
function SignOut({ findLosses, onSignOut }: Pick<ViewProps, 'findLosses'> & Pick<ShellProps, 'onSignOut'>) {
  const [losses, setLosses] = useState<readonly string[]>([]);
  const begin = () => {
    const found = findLosses();
    if (found.length === 0) void onSignOut();
    else setLosses(found);
  };
  return (
    <>
      <Button text="Sign out" class="quiet" onClick={begin} />
      {losses.length > 0 && (
        <Confirm
          title="Sign out, and drop what is not saved?"
          action="Drop and sign out"
          losses={losses}
          onConfirm={() => void onSignOut()}
          onCancel={() => setLosses([])}
        />
      )}
    </>
  );
}

/** Shows a lost or slow connection. The style sheet delays the message, so that short interruptions stay invisible. */
function ConnectionLine({ status, error }: { status: LiveStatus; error: TaskmeshError | undefined }) {
  const waiting = useClient().pendingWrites();
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine);
  if (status === 'failed')
    return (
      <div class="connection broken" role="alert">
        <p>{explain(error)}</p>
        <Button text="Reload the page" onClick={() => location.reload()} />
      </div>
    );
  const isCut = !isOnline || status === 'reconnecting';
  const counted = waiting === 0 ? '' : `, ${waiting} waiting`;
  return (
    <div class="connection" role="status">
      {isCut && (
        <p class="late">
          {isOnline ? 'Not connected' : 'Offline'}: changes are kept{counted}
        </p>
      )}
      {!isCut && waiting > 0 && <p class="later">The server is slow to answer{counted}</p>}
      {!isCut && waiting === 0 && status === 'loading' && <p class="later">Waiting for the server…</p>}
    </div>
  );
}

function onNetwork(listener: () => void): () => void {
  const listening = new AbortController();
  for (const event of ['online', 'offline']) addEventListener(event, listener, listening);
  return () => listening.abort();
}
