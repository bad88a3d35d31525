import type { Clock } from '@taskmesh/service';

export const FAILURES_TO_OPEN = 3;
const OPEN_MS = 2_000;

/** Open after a few failures in a row, for a while: nobody then waits for a store that does not answer. */
export interface Circuit {
  isOpen(): boolean;
  succeeded(): void;
  /** True when this failure opened it. */
  failed(): boolean;
}

export function createCircuit(clock: Clock): Circuit {
  let failures = 0;
  let openUntil = -Infinity;
  const isOpen = () => clock.now() < openUntil;
  return {
    isOpen,
    succeeded() {
      failures = 0;
    },
    failed() {
      // What was under way when it opened says nothing new.
      if (isOpen() || ++failures < FAILURES_TO_OPEN) return false;
      failures = 0;
      openUntil = clock.now() + OPEN_MS;
      return true;
    },
  };
}
