import { settlesWithin } from './deadline.ts';

/**
 * For a question that may not be answered soon, or at all. It is asked once at a time, however many callers wait. Each of
 * them waits at most `withinMs`, and gets undefined if there is no answer by then, or a failure.
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
