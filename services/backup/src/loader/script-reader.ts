import { LoadError } from './load-error.ts';
import { createStatementEnd, type End } from './statement-end.ts';

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
  /**
   * The next statement with its semicolon, or command line; undefined at the end. An INSERT of many rows comes as several,
   * each of which is one. @throws LoadError
   */
  next(): Promise<Statement | MetaCommand | undefined>;
  /** The lines behind a `COPY … FROM stdin;` that `next` just returned, up to the line `\.`, which is not included. @throws LoadError */
  copyData(): AsyncGenerator<Buffer, void, void>;
  bytesRead(): number;
}

/** The parser needs a thousand times as much memory for what is outside of quotes, and ten times for the rest. */
const MAX_CODE_BYTES = 64 * 1024;
const MAX_STATEMENT_BYTES = 2 * 1024 * 1024;
/** Of COPY data; PostgreSQL keeps several copies of a line in memory. */
const MAX_DATA_LINE_BYTES = 64 * 1024 * 1024;
/** Of lines that hold no data: `\.`, what is behind `COPY … FROM stdin;`, commands for psql. */
const MAX_LINE_BYTES = 1_024;
const NEWLINE = 0x0a;
const BACKSLASH = 0x5c;
const DASH = 0x2d;
/** A byte order mark. */
const LONGEST_BEGINNING = 3;
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
  /** What the rows of the INSERT under way are preceded by. */
  let head = '';

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
    while (!isLast && buffer.length <= MAX_LINE_BYTES && !buffer.includes(NEWLINE)) await fill();
    const at = buffer.indexOf(NEWLINE);
    if ((at === -1 ? buffer.length : at) > MAX_LINE_BYTES) throw new LoadError(`Line ${line} is too long.`);
    return take(at === -1 ? buffer.length : at + 1);
  };

  /** Blank and comment lines in front of a statement are dropped here, so that messages name its own line. */
  const skipBlankLines = async (): Promise<void> => {
    for (;;) {
      while (!isLast && isCut(buffer)) await fill();
      const length = blankBytes(buffer);
      if (length === 0) return;
      take(length);
    }
  };

  /** Takes what has ended, as a statement of its own. */
  const cut = ({ at, rowsAt }: End, first: number): string => {
    end.shift(at);
    const bytes = take(at);
    if (rowsAt === undefined) {
      const text = head + decode(bytes, first);
      head = '';
      return text;
    }
    const text = head + decode(bytes.subarray(0, -1), first);
    if (head === '') head = `${decode(bytes.subarray(0, rowsAt), first)} `;
    return text;
  };

  return {
    async next() {
      if (head === '') await skipBlankLines();
      if (head === '' && buffer[0] === BACKSLASH) {
        const at = line;
        return { meta: (await takeLine()).toString('utf8').trimEnd(), line: at };
      }
      const at = line;
      for (;;) {
        const found = end.find(buffer, isLast);
        if (end.codeBytes() > MAX_CODE_BYTES || (found?.at ?? buffer.length) > MAX_STATEMENT_BYTES)
          throw new LoadError(`The statement of line ${at} is too long.`);
        if (found) return { text: cut(found, at), line: at };
        if (isLast) {
          if (end.hasBegun()) throw new LoadError(`The dump ends within the statement of line ${at}.`);
          return undefined;
        }
        await fill();
      }
    },

    async *copyData() {
      const begin = line;
      const rest = await takeLine();
      if (rest.toString('latin1').trim() !== '') throw new LoadError(`Line ${begin} goes on behind COPY … FROM stdin.`);
      let lineBytes = 0;
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
        lineBytes = buffer.length - lastLine + (lastLine > 0 ? 0 : lineBytes);
        if (lineBytes > MAX_DATA_LINE_BYTES)
          throw new LoadError(`The data of line ${begin} have a line that is too long.`);
        const length = atLineStart ? lastLine : buffer.length;
        if (length > 0) yield take(length);
      }
    },

    bytesRead: () => total,
  };
}

const isComment = (bytes: Buffer) => bytes[0] === DASH && bytes[1] === DASH;

/** Whether more bytes are needed to tell what a line begins with, or where the comment that it is ends. */
function isCut(bytes: Buffer): boolean {
  if (bytes.length < LONGEST_BEGINNING) return true;
  return isComment(bytes) && bytes.length <= MAX_STATEMENT_BYTES && !bytes.includes(NEWLINE);
}

/** How many bytes of blanks, of a comment line or of a byte order mark come first. */
function blankBytes(bytes: Buffer): number {
  if (isComment(bytes)) return bytes.indexOf(NEWLINE) + 1;
  return /^(?:[ \t\r\n\f\v]+|\xef\xbb\xbf)/.exec(bytes.toString('latin1', 0, MAX_LINE_BYTES))?.[0].length ?? 0;
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
