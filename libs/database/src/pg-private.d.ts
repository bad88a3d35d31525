// What pg-cursor uses of the driver, too, and the driver's own types leave out.

declare module 'pg/lib/utils.js' {
  /** A parameter as text, or as bytes; null for what is absent. */
  export function prepareValue(value: unknown): string | Buffer | null;
}
