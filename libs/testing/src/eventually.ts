/** The real clock, even in tests that fake time. */
const now = performance.now.bind(performance);

/**
 * Waits until `check` neither throws nor returns false; rethrows the last failure after the time-out, which only says
 * how long a failure takes: a promise about time is measured, in several rounds (`fastestOf`).
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
 * The shortest time, in ms, of several rounds, each of which measures its own. Delays by a busy machine differ from
 * round to round; what the code itself needs is part of each.
 */
export async function fastestOf(round: () => Promise<number>, rounds = 3): Promise<number> {
  const tookMs: number[] = [];
  for (let count = 0; count < rounds; count++) tookMs.push(await round());
  return Math.min(...tookMs);
}
