import type { User } from '@taskmesh/client';
import { useEffect, useRef } from 'preact/hooks';
import { useTitle } from '../elements/use-title.ts';
import { useRoute } from '../route.ts';
import { Conflicts } from '../tasks/conflicts.tsx';
import { useEditing } from '../tasks/use-editing.ts';
import { useEdits } from '../tasks/use-edits.ts';
import { ConnectionLine } from './connection-line.tsx';
import { Header } from './header.tsx';
import { useOverview } from './use-overview.ts';
import { viewOf } from './views.ts';

/** What is around every view: it is there for as long as somebody is signed in. */
export function Shell({ user, onSignOut }: { user: User; onSignOut: () => Promise<void> }) {
  const { name } = useRoute();
  const view = viewOf(name);
  const overview = useOverview();
  const edits = useEdits();
  const editing = useEditing(edits);
  const main = useFocusOnChange(view.name);
  useTitle(view.title);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to the content
      </a>
      <Header user={user} current={view.name} onSignOut={onSignOut} />
      <main id="main" ref={main} tabIndex={-1}>
        <ConnectionLine status={overview.status} error={overview.error} />
        <Conflicts edits={edits} />
        <view.Component user={user} overview={overview} edits={edits} editing={editing} />
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
