/** The real clock, even in tests that fake time. */
const now = performance.now.bind(performance);

/**
 * Waits until `check` neither throws nor returns false; rethrows the last failure after the timeout. Do not use the timeout
 * to test how fast something is: measure that in several rounds (`fastestOf`).
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  { timeoutMs = 30_000, everyMs = 20 } = {},
): Promise<Result> {
  const deadline = now() + timeoutMs;
  for (;;) {
    try {
      const result = await check();
      if (result !== false) return result;
      if (now() > deadline) throw new Error('It never became true.');
    } catch (error) {
      if (now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/**
 * Returns the shortest time, in ms, of several rounds, each of which measures itself. Delays by a busy machine vary between
 * rounds; the time that the code itself needs is part of each.
 */
export async function fastestOf(round: () => Promise<number>, rounds = 3): Promise<number> {
  const tookMs: number[] = [];
  for (let count = 0; count < rounds; count++) tookMs.push(await round());
  return Math.min(...tookMs);
}

/** Work that keeps the process busy for 2 ms each time. Reports the most runs before anything else could run. */
export function createSlowWork() {
  let inThisTurn = 0;
  const done = { count: 0, mostInOneTurn: 0 };
  return {
    done,
    work() {
      if (inThisTurn === 0) setImmediate(() => (inThisTurn = 0));
      done.mostInOneTurn = Math.max(done.mostInOneTurn, ++inThisTurn);
      for (const until = now() + 2; now() < until;);
      done.count++;
    },
  };
}
