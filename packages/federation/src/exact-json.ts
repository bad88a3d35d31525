declare global {
  /** https://github.com/tc39/proposal-json-parse-with-source, which TypeScript does not declare yet. */
  interface JSON {
    rawJSON(text: string): ExactInteger;
    isRawJSON(value: unknown): value is ExactInteger;
  }
}

/** An integer that a double cannot hold. `JSON.stringify` writes it as it was sent. */
export interface ExactInteger {
  readonly rawJSON: string;
}

/** Reading each number's text takes several times as long, so most texts are parsed without it. */
const MAY_HAVE_LARGE_INTEGERS = /[:,[\s]-?\d{16}/;
const INTEGER = /^-?\d+$/;

/** Like `JSON.parse`, with an `ExactInteger` in place of each integer beyond 2^53. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  return MAY_HAVE_LARGE_INTEGERS.test(text) ? JSON.parse(text, keepExact as Reviver) : JSON.parse(text);
}

type Reviver = (key: string, value: unknown) => unknown;

function keepExact(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value);
  return isRounded && source !== undefined && INTEGER.test(source) ? JSON.rawJSON(source) : value;
}

export function isExactInteger(value: unknown): value is ExactInteger {
  return JSON.isRawJSON(value);
}
