const EVERY_MS = 12_000;
/** Connections are divided into groups, which take turns every quarter of a second. */
const GROUPS = 48;

export type Heartbeats = ReturnType<typeof createHeartbeats>;

/** Runs the heartbeats of all connections with one timer, because thousands of timers would cost too much. */
export function createHeartbeats(everyMs = EVERY_MS) {
  /** A new connection joins the group of the current turn, so that successive connections also take turns in succession. */
  const groups = Array.from({ length: GROUPS }, () => new Set<() => void>());
  let currentGroup = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const current = () => groups[currentGroup] ?? new Set();
  const beatNextGroup = () => {
    currentGroup = (currentGroup + 1) % GROUPS;
    for (const beat of current()) beat();
  };

  return {
    /** Calls `beat` at each interval, first after one whole interval, until the returned function is called. */
    add(beat: () => void): () => void {
      const group = current();
      group.add(beat);
      if (count++ === 0) timer = setInterval(beatNextGroup, everyMs / GROUPS);
      return () => {
        if (group.delete(beat) && --count === 0) clearInterval(timer);
      };
    },
  };
}
