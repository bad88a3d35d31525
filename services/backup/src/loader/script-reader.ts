import { LoadError } from './load-error.ts';
import { createStatementEnd } from './statement-end.ts';

export interface Statement {
  text: string;
  /** Where it begins, for messages: the first line is 1. */
  line: number;
}

/** A line for psql, such as `\restrict`. */
export interface MetaCommand {
  meta: string;
  line: number;
}

/** Reads an SQL script as psql would, without ever running a command of psql. */
export interface ScriptReader {
  /** The next statement with its semicolon, or command line; undefined at the end. @throws LoadError */
  next(): Promise<Statement | MetaCommand | undefined>;
  /** The lines behind a `COPY … FROM stdin;` that `next` just returned, up to the line `\.`, which is not included. @throws LoadError */
  copyData(): AsyncGenerator<Buffer, void, void>;
  bytesRead(): number;
}

/** The parser needs some fifty times as much memory. */
const MAX_STATEMENT_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const END_OF_DATA = Buffer.from('\n\\.');
/** `\.` with the longest line end. */
const END_LINE_BYTES = 4;

export function createScriptReader(source: AsyncIterable<Buffer>): ScriptReader {
  const chunks = source[Symbol.asyncIterator]();
  const end = createStatementEnd();
  let buffer: Buffer = Buffer.alloc(0);
  let isLast = false;
  let line = 1;
  let total = 0;

  /** Appends what comes next to what is left. */
  const fill = async (): Promise<void> => {
    const { value, done } = await chunks.next();
    if (done) isLast = true;
    else {
      total += value.length;
      buffer = buffer.length === 0 ? value : Buffer.concat([buffer, value]);
    }
  };

  const take = (length: number): Buffer => {
    const taken = buffer.subarray(0, length);
    buffer = buffer.subarray(length);
    for (let at = taken.indexOf(NEWLINE); at !== -1; at = taken.indexOf(NEWLINE, at + 1)) line++;
    return taken;
  };

  const takeLine = async (): Promise<Buffer> => {
    while (!buffer.includes(NEWLINE) && !isLast) await fill();
    const at = buffer.indexOf(NEWLINE);
    return take(at === -1 ? buffer.length : at + 1);
  };

  /** Blank and comment lines in front of a statement are dropped here, so that messages name its own line. */
  const skipBlankLines = async (): Promise<void> => {
    for (;;) {
      while (!isLast && buffer.length < 2) await fill();
      const blank = /^(?:[ \t\r\n\f\v]+|--[^\n]*\n)/.exec(buffer.toString('latin1', 0, 1024));
      if (!blank) return;
      take(blank[0].length);
    }
  };

  return {
    async next() {
      await skipBlankLines();
      if (buffer[0] === BACKSLASH) {
        const at = line;
        return { meta: (await takeLine()).toString('utf8').trimEnd(), line: at };
      }
      const at = line;
      for (;;) {
        const length = end.find(buffer, isLast);
        if (length !== -1) {
          end.shift(length);
          return { text: decode(take(length), at), line: at };
        }
        if (isLast) {
          if (end.hasBegun()) throw new LoadError(`The dump ends within the statement of line ${at}.`);
          return undefined;
        }
        if (buffer.length > MAX_STATEMENT_BYTES) throw new LoadError(`The statement of line ${at} is too long.`);
        await fill();
      }
    },

    async *copyData() {
      const begin = line;
      const rest = await takeLine();
      if (rest.toString('latin1').trim() !== '') throw new LoadError(`Line ${begin} goes on behind COPY … FROM stdin.`);
      for (let atLineStart = true; ; await fill()) {
        while (!isLast && buffer.length < END_LINE_BYTES) await fill();
        const endLine = atLineStart && isEndLine(buffer, 0) ? 0 : findEndLine(buffer);
        if (endLine !== undefined) {
          if (endLine > 0) yield take(endLine);
          await takeLine();
          return;
        }
        if (isLast) throw new LoadError(`The dump ends within the data of line ${begin}.`);
        // The beginning of a line that may yet turn out to be the last one stays for the next round.
        const lastLine = buffer.lastIndexOf(NEWLINE) + 1;
        atLineStart = buffer.length - lastLine < END_LINE_BYTES && (lastLine > 0 || atLineStart);
        const length = atLineStart ? lastLine : buffer.length;
        if (length > 0) yield take(length);
      }
    },

    bytesRead: () => total,
  };
}

/** The index of the line `\.`, when one begins behind a line end. */
function findEndLine(bytes: Buffer): number | undefined {
  for (let at = bytes.indexOf(END_OF_DATA); at !== -1; at = bytes.indexOf(END_OF_DATA, at + 1))
    if (isEndLine(bytes, at + 1)) return at + 1;
  return undefined;
}

/** `\.` and its line end, with or without a carriage return; at the end of the file none is needed. */
function isEndLine(bytes: Buffer, at: number): boolean {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== 0x2e) return false;
  const next = bytes[at + 2] === 0x0d ? bytes[at + 3] : bytes[at + 2];
  return next === undefined || next === NEWLINE;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function decode(bytes: Buffer, line: number): string {
  if (bytes.includes(0)) throw new LoadError(`The statement of line ${line} has zero bytes: this is no SQL text.`);
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new LoadError(`The statement of line ${line} is not UTF-8.`, { cause });
  }
}
