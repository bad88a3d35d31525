/** How the relay behaves towards an event log that does not take its records. */
export interface RelayPatience {
  /** The pause after the first failure; it doubles with each one that follows. */
  firstPauseMs: number;
  lastPauseMs: number;
}

export const RELAY_PATIENCE: RelayPatience = { firstPauseMs: 50, lastPauseMs: 2_000 };

export function pauseAfter(failures: number, { firstPauseMs, lastPauseMs }: RelayPatience): number {
  return Math.min(firstPauseMs * 2 ** (failures - 1), lastPauseMs);
}
