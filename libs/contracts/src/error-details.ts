// These check the shape of an error, because `instanceof` fails for errors of another realm.

/** The code of a system, database or library error (`ENOENT`, `57P01`); empty if it has none. */
export function errorCode(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code ?? '') : '';
}

/** An error's text, without its name and stack. */
export function errorMessage(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
