/** Rejects when `work` is not done in time; the work itself goes on, its end is ignored. */
export async function withDeadline<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Kafka did not do it within ${timeoutMs} ms.`)), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
