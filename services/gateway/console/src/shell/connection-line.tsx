import type { LiveStatus, TaskmeshError } from '@taskmesh/client';
import { useSyncExternalStore } from 'preact/compat';
import { useClient } from '../client-context.ts';
import { explain } from '../requests/explain.ts';

/** Empty while connected. The style sheet delays it, so that short interruptions show nothing. */
export function ConnectionLine({ status, error }: { status: LiveStatus; error: TaskmeshError | undefined }) {
  const waiting = useClient().pendingWrites();
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine);
  if (status === 'failed')
    return (
      <div class="connection broken" role="alert">
        <p>{explain(error)}</p>
        <button type="button" onClick={() => location.reload()}>
          Reload the page
        </button>
      </div>
    );
  const isCut = !isOnline || status === 'reconnecting';
  return (
    <div class="connection" role="status">
      {isCut && (
        <p class="late">
          {isOnline ? 'Not connected' : 'Offline'}: changes are kept{counted(waiting)}
        </p>
      )}
      {!isCut && waiting > 0 && <p class="later">The server is slow to answer{counted(waiting)}</p>}
      {!isCut && waiting === 0 && status === 'loading' && <p class="later">Waiting for the server…</p>}
    </div>
  );
}

function counted(waiting: number): string {
  if (waiting === 0) return '';
  return waiting === 1 ? ', 1 waiting' : `, ${waiting} waiting`;
}

function onNetwork(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}
