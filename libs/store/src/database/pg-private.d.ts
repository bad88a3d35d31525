// The driver's types omit this function; pg-cursor uses it as well.

declare module 'pg/lib/utils.js' {
  /** Converts a parameter to text or bytes; null for null and undefined. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
