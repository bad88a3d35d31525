export const FAILURES_TO_OPEN = 3;
const OPEN_MS = 2_000;

/** Opens for a while after a few failures in a row, so that callers do not wait for a store that does not answer. */
export interface Circuit {
  isOpen(): boolean;
  succeeded(): void;
  /** Returns true when this failure opened it. */
  failed(): boolean;
}

export function createCircuit(): Circuit {
  let failures = 0;
  let openUntil = -Infinity;
  const isOpen = () => performance.now() < openUntil;
  return {
    isOpen,
    succeeded() {
      failures = 0;
    },
    failed() {
      // Failures of calls that were under way when the circuit opened say nothing new.
      if (isOpen() || ++failures < FAILURES_TO_OPEN) return false;
      failures = 0;
      openUntil = performance.now() + OPEN_MS;
      return true;
    },
  };
}
