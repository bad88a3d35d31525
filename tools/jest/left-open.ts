import { setTimeout as sleep } from 'node:timers/promises';

/** What keeps a process alive (servers, sockets, timers, other processes, threads): how many of each kind. */
export type OpenHandles = ReadonlyMap<string, number>;

/** Only what is never closed takes so long. */
const CLOSED_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 20;

export function openHandles(): OpenHandles {
  void [process.stdin, process.stdout, process.stderr]; // there from their first use on, and keep nothing alive
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return new Map([...kinds].map(([kind, { length }]) => [kind, length]));
}

/** What there is more of than before, once what is being closed has had time for it. */
export async function leftOpen(before: OpenHandles, withinMs = CLOSED_WITHIN_MS): Promise<string[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const more = [...openHandles()].flatMap(([kind, count]) => {
      const excess = count - (before.get(kind) ?? 0);
      return excess > 0 ? [`${excess} ${kind}`] : [];
    });
    if (more.length === 0 || performance.now() > deadline) return more;
    await sleep(LOOK_EVERY_MS);
  }
}
