const EVERY_MS = 12_000;
/** Each has its turn a quarter of a second after the one before. */
const GROUPS = 48;

export interface Heartbeats {
  /** Calls `beat` regularly until the returned function is called; for the first time after one whole interval. */
  add(beat: () => void): () => void;
}

/** The heartbeats of all connections with one timer, because one for each of many thousands would cost too much. */
export function createHeartbeats(everyMs = EVERY_MS): Heartbeats {
  /** In the order in which they were added, so that connections that came one after the other take turns like that, too. */
  const groups = Array.from({ length: GROUPS }, () => new Set<() => void>());
  let turn = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const current = () => groups[turn] ?? new Set();
  const takeTurn = () => {
    turn = (turn + 1) % GROUPS;
    for (const beat of current()) beat();
  };

  return {
    add(beat) {
      const group = current();
      group.add(beat);
      if (count++ === 0) timer = setInterval(takeTurn, everyMs / GROUPS);
      return () => {
        if (group.delete(beat) && --count === 0) clearInterval(timer);
      };
    },
  };
}
