/**
 * Rejects with `late` when `work` is not done in time; the work continues, its outcome is ignored. An answer that came
 * while this process was busy counts: timers run before it is read.
 */
export async function withDeadline<Result>(
  work: Promise<Result>,
  timeoutMs: number,
  late: () => Error,
): Promise<Result> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => (lastLook = setImmediate(() => reject(late()))), timeoutMs);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
    clearImmediate(lastLook);
  }
}

/** Waits at most `timeoutMs`; returns whether `work` finished in time. @throws what the work throws in time */
export async function settlesWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = new Error();
  return withDeadline(work, timeoutMs, () => late).then(
    () => true,
    (error: unknown) => {
      if (error !== late) throw error;
      return false;
    },
  );
}
