import { useEffect, useRef } from 'preact/hooks';
import type { Conflict } from './conflict.ts';
import { ConflictCard } from './conflict-card.tsx';
import { GoneCard } from './gone-card.tsx';
import type { Edits } from './use-edits.ts';

/** Changes that wait for somebody's decision, above whichever view is shown. They take nobody's focus. */
export function Conflicts({ edits: { conflicts, settle } }: { edits: Edits }) {
  const section = useRef<HTMLElement>(null);
  const count = useRef(0);
  useEffect(() => {
    // Who has just decided goes on with the next one.
    if (conflicts.length < count.current) section.current?.querySelector('button')?.focus();
    count.current = conflicts.length;
  }, [conflicts]);
  if (conflicts.length === 0) return null;
  return (
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
  );
}

function keyOf({ id, changes }: Conflict): string {
  return id + JSON.stringify(changes);
}
