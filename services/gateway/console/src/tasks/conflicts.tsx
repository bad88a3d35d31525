import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Conflict } from './conflict.ts';
import { ConflictCard } from './conflict-card.tsx';
import { GoneCard } from './gone-card.tsx';
import type { Edits } from './use-edits.ts';

/** The header hides this part of the screen. */
const UNDER_HEADER = '-56px 0px 0px';

/** Changes that need a decision, above every view. They never take the focus. */
export function Conflicts({ edits: { conflicts, settle } }: { edits: Edits }) {
  const section = useRef<HTMLElement>(null);
  const count = useRef(0);
  useEffect(() => {
    // After a decision, the focus moves to the next conflict.
    if (conflicts.length < count.current) section.current?.querySelector('button')?.focus();
    count.current = conflicts.length;
  }, [conflicts]);
  const isInSight = useIsInSight(section, conflicts.length > 0);
  if (conflicts.length === 0) return null;
  const goThere = () => {
    section.current?.scrollIntoView();
    section.current?.querySelector<HTMLElement>('input, button')?.focus({ preventScroll: true });
  };
  return (
    <>
      <section class="conflicts" ref={section} aria-label="Changes to decide on">
        {conflicts.map((conflict) =>
          conflict.theirs ? (
            <ConflictCard
              key={keyOf(conflict)}
              conflict={conflict}
              theirs={conflict.theirs}
              onSettle={(chosen) => settle(conflict, chosen)}
            />
          ) : (
            <GoneCard key={keyOf(conflict)} conflict={conflict} onSettle={(chosen) => settle(conflict, chosen)} />
          ),
        )}
      </section>
      <div class="to-decide">
        {!isInSight && (
          <button type="button" onClick={goThere}>
            {conflicts.length === 1 ? '1 change' : `${conflicts.length} changes`} to decide on
          </button>
        )}
      </div>
    </>
  );
}

/** Whether any part is on the screen: after scrolling down, what is added above is not. */
function useIsInSight(place: RefObject<HTMLElement | null>, isThere: boolean): boolean {
  const [isInSight, setIsInSight] = useState(true);
  useEffect(() => {
    if (!isThere || !place.current) return undefined;
    const look = (entries: IntersectionObserverEntry[]) => setIsInSight(entries.at(-1)?.isIntersecting ?? true);
    const observer = new IntersectionObserver(look, { rootMargin: UNDER_HEADER });
    observer.observe(place.current);
    return () => {
      observer.disconnect();
      setIsInSight(true);
    };
  }, [place, isThere]);
  return isInSight;
}

function keyOf({ id, changes }: Conflict): string {
  return id + JSON.stringify(changes);
}
