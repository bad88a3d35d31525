/** Most internal calls are small and soon repeated, so a slow one is given up early. */
export const SMALL_CALL_MS = 3_000;
/** Covers up to four requests to a sign-in provider, three seconds each. */
export const PROVIDER_MS = 15_000;
export const IMPORT_MS = 10 * 60_000;
