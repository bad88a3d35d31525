/** Most internal calls are small and soon repeated, so a slow one is given up early. */
export const SMALL_CALL_MS = 3_000;
/** Covers up to four requests to a sign-in provider, three seconds each. */
export const PROVIDER_MS = 15_000;
/** Of the largest stores; the load before it has a limit that follows the archive's. */
export const IMPORT_MS = 60 * 60_000;
/** Operators learn within about this time that something does not answer. */
export const STATUS_MS = 1_000;
/** The limit for each part of a service's status, short enough that an unavailable part is not taken for the whole service. */
export const STATUS_PART_MS = 700;
