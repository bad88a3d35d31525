/** Work is a POST to its name below this path; whole archives are GET and PUT at `/archive`. */
export const WORK_PATH = '/internal/backup';

/** Work that is called by name with arguments. It may take long, so its answer comes in lines. */
export const WORK_NAMES = ['create', 'verify', 'scan', 'restore', 'dryRun', 'undo'] as const;
export type WorkName = (typeof WORK_NAMES)[number];

/** One line of an answer. The last has the result or the error; blank and repeated ones are signs of life. */
export type WorkLine =
  { progress: object } | { result: unknown } | { error: { code: string; message: string; issues?: unknown } };

/** A line is sent at least this often, even without progress. */
export const SIGN_OF_LIFE_MS = 3_000;
/** The other end counts as gone after this much silence. */
export const SILENCE_MS = 20_000;
/** The sender of an archive waits for its own client, so it may be silent for longer. */
export const UPLOAD_SILENCE_MS = 60_000;
