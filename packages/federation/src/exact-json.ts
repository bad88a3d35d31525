declare global {
  /** https://github.com/tc39/proposal-json-parse-with-source. TypeScript does not declare it yet. */
  interface JSON {
    rawJSON(text: string): ExactInteger;
    isRawJSON(value: unknown): value is ExactInteger;
  }
}

/** An integer that a double cannot represent. `JSON.stringify` writes it exactly as it was received. */
export interface ExactInteger {
  readonly rawJSON: string;
}

/** A quick test: most texts have no large integers and need no second pass. */
const MAY_HAVE_LARGE_INTEGERS = /(?:^|[:,[\s])-?\d{16}/;
const MIN_LARGE_LENGTH = 16;
const MAX_DEPTH = 5_000;
const Char = {
  ...{ quote: 0x22, plus: 0x2b, comma: 0x2c, minus: 0x2d, slash: 0x2f, nine: 0x39, backslash: 0x5c, e: 0x65 },
  ...{ openList: 0x5b, closeList: 0x5d, openObject: 0x7b, closeObject: 0x7d },
} as const;

/**
 * Like `JSON.parse`, but returns an `ExactInteger` for each integer beyond 2^53.
 * @throws SyntaxError for invalid JSON; RangeError for large integers in JSON of more than 5,000 levels
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return MAY_HAVE_LARGE_INTEGERS.test(text) ? withExactIntegers(value, text) : value;
}

type Container = Record<string | number, unknown>;

/** An open list or object, and the current position in it. */
interface Level {
  parent: Level | undefined;
  depth: number;
  isList: boolean;
  index: number;
  /** Where the latest string begins and ends. It is the key when a value follows. */
  keyAt: number;
  keyEnd: number;
  /**
   * The parsed list or object, looked up on first use, so that the total cost is linear in the text. With repeated keys it may be
   * a later value; null if that value has nothing at this position.
   */
  container: unknown;
}

/**
 * Finds large integers in the text and replaces their values. A reviver would be called for every value, which takes
 * tens of times as long as parsing. The text must be valid JSON.
 */
function withExactIntegers(value: unknown, text: string): unknown {
  const root: Level = levelIn(undefined, true);
  root.container = [value];
  let level = root;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === Char.quote) {
      level.keyAt = at;
      at = level.keyEnd = endOfText(text, at);
    } else if (char === Char.comma) level.index++;
    else if (isOfNumber(char)) {
      const end = endOfNumber(text, at);
      if (end - at >= MIN_LARGE_LENGTH) keepExact(level, text, text.slice(at, end));
      at = end - 1;
    } else if (char === Char.openList || char === Char.openObject) level = levelIn(level, char === Char.openList);
    else if (char === Char.closeList || char === Char.closeObject) level = level.parent ?? root;
  }
  return (root.container as [unknown])[0];
}

function levelIn(parent: Level | undefined, isList: boolean): Level {
  const depth = parent ? parent.depth + 1 : 0;
  if (depth > MAX_DEPTH) throw new RangeError(`The JSON has more than ${MAX_DEPTH} levels.`);
  return { parent, depth, isList, index: 0, keyAt: 0, keyEnd: 0, container: undefined };
}

/** The position of the closing quote of the string that begins at `quote`. */
function endOfText(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === Char.backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
}

/** Matches digits, minus and point. */
function isOfNumber(char: number): boolean {
  return char >= Char.minus && char <= Char.nine && char !== Char.slash;
}

function endOfNumber(text: string, at: number): number {
  let end = at + 1;
  for (let char = text.charCodeAt(end); ; char = text.charCodeAt(++end)) {
    if (!isOfNumber(char) && char !== Char.plus && (char | 0x20) !== Char.e) return end;
  }
}

const INTEGER = /^-?\d+$/;

function keepExact(level: Level, text: string, source: string): void {
  const number = Number(source);
  if (Number.isSafeInteger(number) || !INTEGER.test(source)) return;
  const container = containerOf(level, text);
  const key = keyOf(level, text);
  if (ownValue(container, key) === number) (container as Container)[key] = JSON.rawJSON(source);
}

function containerOf(level: Level, text: string): unknown {
  if (level.container === undefined && level.parent)
    level.container = ownValue(containerOf(level.parent, text), keyOf(level.parent, text)) ?? null;
  return level.container;
}

function keyOf({ isList, index, keyAt, keyEnd }: Level, text: string): string | number {
  return isList ? index : (JSON.parse(text.slice(keyAt, keyEnd + 1)) as string);
}

function ownValue(container: unknown, key: string | number): unknown {
  const isContainer = typeof container === 'object' && container !== null && Object.hasOwn(container, key);
  return isContainer ? (container as Container)[key] : undefined;
}

export function isExactInteger(value: unknown): value is ExactInteger {
  return JSON.isRawJSON(value);
}
