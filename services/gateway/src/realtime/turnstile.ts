/** Lets work through, so many at a time, in the order in which it came. */
export type Turnstile = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createTurnstile(places: number): Turnstile {
  const waiting: (() => void)[] = [];
  let taken = 0;

  return async (work) => {
    if (taken < places) taken++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // Whoever is next takes over the place, so nobody who comes meanwhile gets in between.
      if (next) next();
      else taken--;
    }
  };
}
