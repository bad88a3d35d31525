/** Longer ones are left to the engine, which looks at several characters at once. */
const SHORT = 40;

/** A string as JSON. Most are short and have nothing to escape. */
export function quote(text: string): string {
  const { length } = text;
  if (length > SHORT) return JSON.stringify(text);
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    // Quote, backslash, control characters, and halves of pairs.
    if (code < 32 || code === 34 || code === 92 || (code >= 0xd800 && code <= 0xdfff)) return JSON.stringify(text);
  }
  return `"${text}"`;
}
