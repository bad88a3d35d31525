/** How the relay behaves towards an event log that does not take its records. */
export interface RelayPatience {
  /** The pause after the first failure; it doubles with each one that follows. */
  firstPauseMs: number;
  lastPauseMs: number;
  /** After so many failures in a row, single records are suspected. */
  failuresBeforeSuspicion: number;
  /** How often a record may be refused, while others go through, before it is put aside as a dead letter. */
  tries: number;
}

export const RELAY_PATIENCE: RelayPatience = {
  firstPauseMs: 50,
  lastPauseMs: 2_000,
  failuresBeforeSuspicion: 3,
  tries: 20,
};

export function pauseAfter(
  failures: number,
  { firstPauseMs, lastPauseMs }: Pick<RelayPatience, 'firstPauseMs' | 'lastPauseMs'>,
): number {
  return Math.min(firstPauseMs * 2 ** (failures - 1), lastPauseMs);
}
