/** The code of a system, database or library error (`ENOENT`, `57P01`); empty for anything without one. */
export function errorCode(error: unknown): string {
  // By shape: an error may come from another realm, where `instanceof` says no.
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/** What an error says of itself. */
export function errorMessage(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
