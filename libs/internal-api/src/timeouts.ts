/** Most internal calls are small and asked for again soon: a slow one is given up early. */
export const SMALL_CALL_MS = 3_000;
/** Adopting a large store takes a while. */
export const ADOPTION_MS = 10 * 60_000;
