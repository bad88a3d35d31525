import type { User } from '@taskmesh/client';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useClient } from '../client-context.ts';
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

/** What is around every view: it is there for as long as somebody is signed in. */
export function Shell({ user, desk, onSignOut, onDeleted }: ShellProps) {
  const client = useClient();
  const { name, query } = useRoute();
  const view = viewOf(name);
  const overview = useOverview();
  const list = useTaskList(view.name === 'tasks' ? query : undefined, isAway(overview));
  const { edits, editing, adding } = desk;
  const readings = useMemo<KeptReadings>(() => new Map(), []);
  const main = useFocusOnChange(view.name);
  useTitle(view.title);
  const findLosses = () => lossesOf({ pendingWrites: client.pendingWrites(), edits, editing, adding });
  const props: ViewProps = { user, overview, list, edits, editing, adding, findLosses, onDeleted };
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to the content
      </a>
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

/** The fragment names views: it is not for anchors. */
function skipTo(event: Event, main: HTMLElement | null) {
  event.preventDefault();
  main?.focus();
}

/** Who goes to another view goes on reading there. Nobody's focus is taken when the page begins. */
function useFocusOnChange(name: string) {
  const main = useRef<HTMLElement>(null);
  const before = useRef(name);
  useEffect(() => {
    if (before.current === name) return;
    before.current = name;
    scrollTo(0, 0);
    main.current?.querySelector('h1')?.focus({ preventScroll: true });
  }, [name]);
  return main;
}
