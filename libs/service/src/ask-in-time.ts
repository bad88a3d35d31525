import { settlesWithin } from './deadline.ts';

/**
 * Asks what may not be answered soon, or at all: once at a time, however many wait for the answer. Each waits for
 * `withinMs` at the most; undefined when there is none by then, or a failure.
 */
export function askInTime<Answer>(withinMs: number, ask: () => Promise<Answer>): () => Promise<Answer | undefined> {
  let asking: Promise<Answer | undefined> | undefined;
  return async () => {
    asking ??= ask()
      .catch(() => undefined)
      .finally(() => (asking = undefined));
    const waiting = asking;
    return (await settlesWithin(waiting, withinMs)) ? waiting : undefined;
  };
}
