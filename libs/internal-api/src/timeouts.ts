/** Most internal calls are small and asked for again soon: a slow one is given up early. */
export const SMALL_CALL_MS = 3_000;
/** Importing a large store takes a while. */
export const IMPORT_MS = 10 * 60_000;
