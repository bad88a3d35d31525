/** JSON.stringify is faster for longer strings, as it scans several characters at once. */
const SHORT = 40;

/** A string as JSON, fast for the common case: short, with nothing to escape. */
export function quote(text: string): string {
  const { length } = text;
  if (length > SHORT) return JSON.stringify(text);
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    // Quotes, backslashes, control characters and surrogates.
    if (code < 32 || code === 34 || code === 92 || (code >= 0xd800 && code <= 0xdfff)) return JSON.stringify(text);
  }
  return `"${text}"`;
}
