/** The end of a statement. `at` is the index after it. */
export interface End {
  at: number;
  /** The index of the first row of an INSERT that is split after a row's comma. */
  rowsAt?: number | undefined;
}

const QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const DOLLAR = 0x24;
const OPEN = 0x28;
const CLOSE = 0x29;
const STAR = 0x2a;
export const DASH = 0x2d;
const SLASH = 0x2f;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
export const BACKSLASH = 0x5c;
export const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Longer words and dollar tags are not distinguished: PostgreSQL would truncate or reject them. */
const LOOKAHEAD = 256;
/** A longer INSERT is split into pieces. */
const PIECE_BYTES = 16 * 1024;

type Mode = 'plain' | 'string' | 'escape-string' | 'name' | 'dollar' | 'line-comment' | 'block-comment';

/**
 * Finds the end of an SQL statement as psql does: a semicolon outside quotes, comments, parentheses and the bodies of SQL
 * functions. Works on UTF-8 bytes, which may arrive in pieces.
 */
export function createStatementEnd() {
  let at = 0;
  let mode: Mode = 'plain';
  let depth = 0;
  let comments = 0;
  /** Whether we are right after an escape string. A quote continues it if only whitespace with a line break is in between. */
  let afterEscape: 'no' | 'same line' | 'next line' = 'no';
  let dollarTag = Buffer.alloc(0);
  let isBegun = false;
  let words: string[] = [];
  let lastWord = '';
  let blocks = 0;
  let codeBytes = 0;
  let rowsAt: number | undefined;

  const reset = () => {
    codeBytes = 0;
    rowsAt = undefined;
    depth = 0;
    blocks = 0;
    words = [];
    lastWord = '';
    isBegun = false;
  };

  const skipString = (bytes: Buffer, isLast: boolean): boolean => {
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH && mode === 'escape-string') {
        if (at + 1 >= bytes.length && !isLast) return false;
        at++;
      } else if (byte === QUOTE) {
        if (at + 1 >= bytes.length && !isLast) return false;
        at++;
        if (bytes[at] !== QUOTE) {
          afterEscape = mode === 'escape-string' ? 'same line' : 'no';
          mode = 'plain';
          return true;
        }
      }
    }
    return false;
  };

  const skipComment = (bytes: Buffer, isLast: boolean): boolean => {
    for (; at < bytes.length; at++) {
      if (at + 1 >= bytes.length && !isLast) return false;
      const pair = (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0);
      if (pair === SLASH * 256 + STAR) {
        comments++;
        at++;
      } else if (pair === STAR * 256 + SLASH) {
        at++;
        if (--comments === 0) {
          at++;
          mode = 'plain';
          return true;
        }
      }
    }
    return false;
  };

  const skipTo = (bytes: Buffer, end: number | Buffer, length: number): boolean => {
    const found = bytes.indexOf(end, at);
    if (found === -1) {
      at = Math.max(at, bytes.length - length + 1);
      return false;
    }
    at = found + length;
    mode = 'plain';
    return true;
  };

  /** Skips to the line end but not past it, because the line end matters for the continuation of a string. */
  const skipToLineEnd = (bytes: Buffer): boolean => {
    while (at < bytes.length && !isLineEnd(bytes[at])) at++;
    if (at === bytes.length) return false;
    mode = 'plain';
    return true;
  };

  const leaveMode = (bytes: Buffer, isLast: boolean): boolean => {
    switch (mode) {
      case 'string':
      case 'escape-string':
        return skipString(bytes, isLast);
      case 'name': // a doubled quote ends a name and starts another, which makes no difference here
        return skipTo(bytes, DOUBLE_QUOTE, 1);
      case 'dollar':
        return skipTo(bytes, dollarTag, dollarTag.length);
      case 'line-comment':
        return skipToLineEnd(bytes);
      case 'block-comment':
        return skipComment(bytes, isLast);
      case 'plain':
        return true;
    }
  };

  const enter = (next: Mode, length: number) => {
    mode = next;
    at += length;
  };

  const readWord = (bytes: Buffer): void => {
    const start = at;
    while (at < bytes.length && isWordByte(bytes[at])) at++;
    const word = bytes.toString('latin1', start, Math.min(at, start + 16)).toLowerCase();
    if (bytes[at] === QUOTE && at - start === 1 && word === 'e') enter('escape-string', 1);
    if (words.length < 4) words.push(word);
    if (depth === 0 && isRoutine(words)) countBlocks(word);
    if (depth === 0 && words[0] === 'insert' && word === 'values') rowsAt ??= at;
    lastWord = word;
  };

  /** Tracks the nesting in the body of an SQL routine, `begin atomic … end`, because it contains semicolons. */
  const countBlocks = (word: string): void => {
    if ((word === 'atomic' && lastWord === 'begin') || (word === 'case' && blocks > 0)) blocks++;
    else if (word === 'end' && blocks > 0) blocks--;
  };

  const readDollar = (bytes: Buffer): void => {
    const tag = /^\$(?:[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)?\$/.exec(bytes.toString('latin1', at, at + LOOKAHEAD));
    if (!tag) return void at++;
    dollarTag = Buffer.from(tag[0], 'latin1');
    enter('dollar', dollarTag.length);
  };

  /** Reads one token. Returns whether the token ends a statement or a row. */
  const readToken = (bytes: Buffer, byte: number): 'statement' | 'row' | undefined => {
    const next = bytes[at + 1];
    if (byte === DASH && next === DASH) enter('line-comment', 2);
    else if (byte === SLASH && next === STAR) {
      comments = 1;
      afterEscape = 'no';
      enter('block-comment', 2);
    } else {
      isBegun ||= !isBlank(byte);
      const continues = byte === QUOTE && afterEscape === 'next line';
      if (!isBlank(byte)) afterEscape = 'no';
      else if (afterEscape !== 'no' && isLineEnd(byte)) afterEscape = 'next line';
      if (byte === QUOTE) enter(continues ? 'escape-string' : 'string', 1);
      else if (byte === DOUBLE_QUOTE) enter('name', 1);
      else if (byte === DOLLAR) readDollar(bytes);
      else if (isWordByte(byte)) readWord(bytes);
      else {
        at++;
        if (byte === OPEN) depth++;
        else if (byte === CLOSE) depth = Math.max(0, depth - 1);
        else if (byte === SEMICOLON && depth === 0 && blocks === 0) return 'statement';
        else if (byte === COMMA && depth === 0 && rowsAt !== undefined) return 'row';
      }
    }
    return undefined;
  };

  return {
    /** Continues the search in `bytes`. Undefined when more bytes are needed. `isLast`: no more bytes will follow. */
    find(bytes: Buffer, isLast: boolean) {
      while (leaveMode(bytes, isLast)) {
        const byte = bytes[at];
        if (byte === undefined || (!isLast && bytes.length - at < LOOKAHEAD)) return undefined;
        const before = at;
        const ended = readToken(bytes, byte);
        codeBytes += at - before;
        if (ended === 'statement') {
          reset();
          return { at };
        }
        if (ended === 'row' && codeBytes > PIECE_BYTES) {
          codeBytes = 0;
          return { at, rowsAt };
        }
      }
      return undefined;
    },
    /** The number of bytes outside quotes and comments since the last end. It determines the memory that the parser needs. */
    codeBytes: () => codeBytes,
    /** Call this after removing the first `count` bytes. */
    shift(count: number): void {
      at -= count;
    },
    /** Whether anything but whitespace and comments was seen since the last statement. */
    hasBegun: () => isBegun,
    /** Ends a statement without a semicolon at the end of the text. Undefined inside quotes, comments or parentheses. */
    finish(bytes: Buffer) {
      const isOpen = (mode !== 'plain' && mode !== 'line-comment') || depth > 0 || blocks > 0;
      if (isOpen) return undefined;
      mode = 'plain';
      at = bytes.length;
      reset();
      return { at };
    },
  };
}

function isRoutine(words: string[]): boolean {
  const [first, second, third, fourth] = words;
  const kind = second === 'or' && third === 'replace' ? fourth : second;
  return first === 'create' && (kind === 'function' || kind === 'procedure');
}

/** As in PostgreSQL, digits and `$` continue a word. Here they may also start a word, which makes no difference. */
function isWordByte(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (
    (letter >= 0x61 && letter <= 0x7a) ||
    byte === 0x5f ||
    byte >= 0x80 ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === DOLLAR
  );
}

export function isLineEnd(byte: number | undefined): boolean {
  return byte === NEWLINE || byte === RETURN;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
}
