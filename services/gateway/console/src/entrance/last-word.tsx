import type { Farewell } from '../session/use-farewell.ts';

/** Explains why the last session has ended. */
export function LastWord({ farewell }: { farewell: Farewell }) {
  return farewell === 'deleted' ? (
    <p class="note good" role="status">
      Your account is deleted, with everything in it. You are signed out everywhere.
    </p>
  ) : (
    <p class="note" role="alert">
      You were signed out: your session has ended here, or was ended on another device. When you sign in again, unsent
      changes are sent, and what you typed is still there.
    </p>
  );
}
