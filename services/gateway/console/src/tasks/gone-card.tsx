import type { UpdateTaskInput } from '@taskmesh/client';
import type { Conflict } from './conflict.ts';

export interface GoneCardProps {
  conflict: Conflict;
  onSettle: (chosen?: UpdateTaskInput) => void;
}

/** A task that was changed here, and deleted elsewhere. */
export function GoneCard({ conflict: { title, changes, base }, onSettle }: GoneCardProps) {
  const canCreate = base !== undefined || Boolean(changes.title);
  return (
    <div class="conflict">
      <div role="alert">
        <h2>“{title}” was deleted elsewhere while you changed it</h2>
      </div>
      <div class="buttons">
        <button type="button" onClick={() => onSettle()}>
          Leave it deleted
        </button>
        {canCreate && (
          <button type="button" class="primary" onClick={() => onSettle(changes)}>
            Create it again, with my change
          </button>
        )}
      </div>
    </div>
  );
}
