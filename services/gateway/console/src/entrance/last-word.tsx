import type { Farewell } from '../session/use-farewell.ts';

/** Says what became of a session that was here. */
export function LastWord({ farewell }: { farewell: Farewell }) {
  return farewell === 'deleted' ? (
    <p class="note good" role="status">
      Your account is deleted, with everything in it. You are signed out everywhere.
    </p>
  ) : (
    <p class="note" role="alert">
      You were signed out: your session has ended here, or was ended on another device. Changes that were not sent yet
      go on when you sign in again, and what you typed is still there.
    </p>
  );
}
