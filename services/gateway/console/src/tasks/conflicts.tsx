import type { Task, UpdateTaskInput } from '@taskmesh/client';
import type { RefObject } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { FIELDS, type Conflict, type Field } from './conflict.ts';
import { FIELD_LABELS, formatValue } from './field-values.ts';
import type { Edits } from './use-edits.ts';
import { Button } from '../elements/view.tsx';

/** Excludes the part of the screen that the header covers. */
const UNDER_HEADER = '-56px 0px 0px';

/** The changes that need a decision, shown above every view. A new conflict never takes the focus. */
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
        {conflicts.map((conflict) => {
          const { id, changes, theirs } = conflict;
          const key = id + JSON.stringify(changes);
          const props = { conflict, onSettle: (chosen?: UpdateTaskInput) => settle(conflict, chosen) };
          return theirs ? <ConflictCard key={key} theirs={theirs} {...props} /> : <DeletedCard key={key} {...props} />;
        })}
      </section>
      <div class="to-decide">
        {!isInSight && (
          <Button
            text={`${conflicts.length === 1 ? '1 change' : `${conflicts.length} changes`} to decide on`}
            onClick={goThere}
          />
        )}
      </div>
    </>
  );
}

/** Whether any part of the element is on the screen. It is not if the user had scrolled down when it appeared. */
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

interface CardProps {
  conflict: Conflict;
  onSettle: (chosen?: UpdateTaskInput) => void;
}

type Side = 'mine' | 'theirs';

/** Shows both versions field by field. Saves nothing until the user decides. */
function ConflictCard({ conflict, theirs, onSettle }: CardProps & { theirs: Task }) {
  const { title, changes, clashes } = conflict;
  const id = useId();
  const [sides, setSides] = useState<Partial<Record<Field, Side>>>({});
  const choose = (field: Field, side: Side) => setSides((before) => ({ ...before, [field]: side }));
  const save = () => {
    const mine = FIELDS.filter((field) => changes[field] !== undefined && sides[field] !== 'theirs');
    onSettle(mine.length === 0 ? undefined : Object.fromEntries(mine.map((field) => [field, changes[field]])));
  };
  return (
    <form
      class="conflict"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div role="alert">
        <h2 id={id}>“{title}” was changed elsewhere, too</h2>
        <p>Nothing is saved yet. Choose what the task should say.</p>
      </div>
      {clashes.map((field) => (
        <fieldset key={field} class="sides">
          <legend>{FIELD_LABELS[field]}</legend>
          {(['mine', 'theirs'] as const).map((side) => (
            <label key={side} class="side">
              <input
                type="radio"
                name={`${id}-${field}`}
                checked={(sides[field] ?? 'mine') === side}
                onChange={() => choose(field, side)}
              />
              <span class="whose">{side === 'mine' ? 'Your change' : 'Changed elsewhere'}</span>
              <span class="value">{formatValue(field, side === 'mine' ? changes : theirs)}</span>
            </label>
          ))}
        </fieldset>
      ))}
      <div class="buttons">
        <Button text="Drop my change" onClick={() => onSettle()} />
        <Button type="submit" text="Save my choice" class="primary" />
      </div>
    </form>
  );
}

/** A task that was changed here and deleted elsewhere. */
function DeletedCard({ conflict: { title, changes, base }, onSettle }: CardProps) {
  const canCreate = base !== undefined || Boolean(changes.title);
  return (
    <div class="conflict">
      <div role="alert">
        <h2>“{title}” was deleted elsewhere while you changed it</h2>
      </div>
      <div class="buttons">
        <Button text="Leave it deleted" onClick={() => onSettle()} />
        {canCreate && (
          <Button text="Create it again, with my change" class="primary" onClick={() => onSettle(changes)} />
        )}
      </div>
    </div>
  );
}
