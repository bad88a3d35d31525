import type { LiveStatus, TaskmeshError } from '@taskmesh/client';
import { useClient } from '../client-context.ts';
import { explain } from '../requests/explain.ts';

/** Says nothing while all is well. What is over in a moment is not told either: the style sheet waits before it shows this. */
export function ConnectionLine({ status, error }: { status: LiveStatus; error: TaskmeshError | undefined }) {
  const waiting = useClient().pendingWrites();
  if (status === 'failed')
    return (
      <div class="connection broken" role="alert">
        <p>{explain(error)}</p>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    );
  return (
    <div class="connection" role="status">
      {status === 'reconnecting' && <p class="late">{lineFor(waiting)}</p>}
    </div>
  );
}

function lineFor(waiting: number): string {
  const kept = 'Offline: your changes are kept, and sent when the connection is back.';
  if (waiting === 0) return kept;
  return `${kept} ${waiting === 1 ? 'One waits.' : `${waiting} wait.`}`;
}
