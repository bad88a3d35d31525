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
