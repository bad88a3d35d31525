/** Work is `POST`ed here, by its name; whole archives are got from and put to `/archive`. */
export const WORK_PATH = '/internal/backup';

/** The work that is a name with arguments. Its answer comes in lines, because it may last. */
export const WORK_NAMES = [
  'list',
  'find',
  'remove',
  'create',
  'verify',
  'scan',
  'restore',
  'dryRun',
  'newEpoch',
  'undoable',
  'undo',
] as const;
export type WorkName = (typeof WORK_NAMES)[number];

/** One line of an answer. The last one has a result or an error; blank and repeated ones say that the work goes on. */
export type WorkLine =
  { progress: object } | { result: unknown } | { error: { code: string; message: string; issues?: unknown } };

/** A line comes at least so often, also while the work has nothing to tell. */
export const SIGN_OF_LIFE_MS = 3_000;
/** Nothing for so long means that the other end is gone. */
export const SILENCE_MS = 20_000;
/** The sender of an archive, who waits for a client of its own, may be silent for longer. */
export const UPLOAD_SILENCE_MS = 60_000;
