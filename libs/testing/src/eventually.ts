/** The real time, also for a test that has changed it for what it tests. */
const now = performance.now.bind(performance);

/** Waits until `check` stops throwing (or returns anything but false); the last failure is thrown when the time is up. */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  { timeoutMs = 10_000, everyMs = 20 } = {},
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
