import type { User } from '@taskmesh/client';
import { useMemo } from 'preact/hooks';
import { useClient } from '../client-context.ts';
import { useEndOfNotices } from '../elements/notices.tsx';
import { SkipLink } from '../elements/skip-link.tsx';
import { useFocusOnChange } from '../elements/use-focus-on-change.ts';
import { useTitle } from '../elements/use-title.ts';
import { AwayContext, KeptReadingsContext, type KeptReadings } from '../requests/kept-readings.ts';
import { addressOf, useRoute } from '../route.ts';
import { Conflicts } from '../tasks/conflicts.tsx';
import { queryOf } from '../tasks/filters.ts';
import { useTaskList } from '../tasks/use-task-list.ts';
import { ConnectionLine } from './connection-line.tsx';
import type { OnDesk } from './desk.tsx';
import { Header } from './header.tsx';
import { lossesOf } from './losses.ts';
import { isAway, useOverview } from './use-overview.ts';
import type { ViewProps } from './view-props.ts';
import { viewOf } from './views.ts';

export interface ShellProps {
  user: User;
  desk: OnDesk;
  onSignOut: () => Promise<void>;
  onDeleted: () => Promise<void>;
}

/** The frame around all views. Stays mounted for as long as the user is signed in. */
export function Shell({ user, desk, onSignOut, onDeleted }: ShellProps) {
  const client = useClient();
  const { name, query } = useRoute();
  const view = viewOf(name);
  const overview = useOverview();
  const list = useTaskList(view.name === 'tasks' ? query : undefined, isAway(overview));
  const { edits, editing, adding } = desk;
  const readings = useMemo<KeptReadings>(() => new Map(), []);
  const main = useFocusOnChange(view.name);
  useEndOfNotices(view.name);
  useTitle(view.title);
  const findLosses = () => lossesOf({ pendingWrites: client.pendingWrites(), edits, editing, adding });
  const props: ViewProps = { user, overview, list, edits, editing, adding, findLosses, onDeleted };
  return (
    <>
      <SkipLink main={main} />
      <Header
        user={user}
        current={view.name}
        addressOf={(each) => addressOf(each, each === 'tasks' ? queryOf(list.filters) : undefined)}
        findLosses={findLosses}
        onSignOut={onSignOut}
      />
      <main id="main" ref={main} tabIndex={-1}>
        <ConnectionLine status={overview.status} error={overview.error} />
        <Conflicts edits={edits} />
        <KeptReadingsContext.Provider value={readings}>
          <AwayContext.Provider value={isAway(overview)}>
            <view.Component {...props} />
          </AwayContext.Provider>
        </KeptReadingsContext.Provider>
      </main>
    </>
  );
}
