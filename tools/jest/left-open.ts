import { setTimeout as sleep } from 'node:timers/promises';

/** The number of handles that keep a process alive, by kind: servers, sockets, timers, child processes, threads. */
export type OpenHandles = ReadonlyMap<string, number>;

/** A handle still open after this time will never be closed. */
const CLOSED_WITHIN_MS = 10_000;
const CHECK_EVERY_MS = 20;

export function openHandles(): OpenHandles {
  void [process.stdin, process.stdout, process.stderr]; // they exist from their first use on, and keep nothing alive
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return new Map([...kinds].map(([kind, { length }]) => [kind, length]));
}

/** Returns the kinds of handles of which there are more than before, after giving closing ones some time. */
export async function leftOpen(before: OpenHandles, withinMs = CLOSED_WITHIN_MS): Promise<string[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const more = [...openHandles()].flatMap(([kind, count]) => {
      const excess = count - (before.get(kind) ?? 0);
      return excess > 0 ? [`${excess} ${kind}`] : [];
    });
    if (more.length === 0 || performance.now() > deadline) return more;
    await sleep(CHECK_EVERY_MS);
  }
}
