import { LoadError } from './load-error.ts';
import { BACKSLASH, createStatementEnd, DASH, isLineEnd, NEWLINE, type End } from './statement-end.ts';

export interface Statement {
  text: string;
  /** The number of its first line, counted from 1, for messages. */
  line: number;
}

/** A psql command, such as `\restrict`. */
export interface MetaCommand {
  meta: string;
  line: number;
}

export type ScriptReader = ReturnType<typeof createScriptReader>;

/** The parser needs a thousand times the memory of text outside quotes, and ten times the memory of quoted text. */
const MAX_CODE_BYTES = 64 * 1024;
const MAX_STATEMENT_BYTES = 2 * 1024 * 1024;
/** The limit for lines of COPY data. PostgreSQL keeps several copies of a line in memory. */
const MAX_DATA_LINE_BYTES = 64 * 1024 * 1024;
/** The limit for other lines: `\.`, the rest of a `COPY … FROM stdin;` line, psql commands. */
const MAX_LINE_BYTES = 1_024;
/** The length of a byte order mark. */
const MAX_PREFIX_BYTES = 3;
const END_OF_DATA = Buffer.from('\n\\.');
/** The length of `\.` with the longest line end. */
const END_LINE_BYTES = 4;

export function createScriptReader(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]();
  const end = createStatementEnd();
  let buffer: Buffer = Buffer.alloc(0);
  let isLast = false;
  let line = 1;
  let total = 0;
  /** The text before the rows of the current INSERT. */
  let head = '';

  const fill = async (): Promise<void> => {
    const { value, done } = await chunks.next();
    if (done) isLast = true;
    else {
      total += value.length;
      buffer = buffer.length === 0 ? value : Buffer.concat([buffer, value]);
    }
  };

  const take = (length: number): Buffer => {
    const bytes = buffer.subarray(0, length);
    buffer = buffer.subarray(length);
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) line++;
    return bytes;
  };

  const takeLine = async (): Promise<Buffer> => {
    while (!isLast && buffer.length <= MAX_LINE_BYTES && !buffer.includes(NEWLINE)) await fill();
    const at = buffer.indexOf(NEWLINE);
    if ((at === -1 ? buffer.length : at) > MAX_LINE_BYTES) throw new LoadError(`Line ${line} is too long.`);
    return take(at === -1 ? buffer.length : at + 1);
  };

  /** Drops blank and comment lines before a statement, so that messages name the statement's own line. */
  const skipBlankLines = async (): Promise<void> => {
    for (;;) {
      while (!isLast && isCut(buffer)) await fill();
      const length = blankBytes(buffer);
      if (length === 0) return;
      take(length);
    }
  };

  /** Removes a complete part from the buffer and returns it as a statement. */
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
    /**
     * Returns the next statement with its semicolon, or the next psql command; undefined at the end. Splits an INSERT with many
     * rows into several complete statements. @throws LoadError
     */
    async next(): Promise<Statement | MetaCommand | undefined> {
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
          if (!end.hasBegun()) return undefined;
          const last = end.finish(buffer);
          if (!last) throw new LoadError(`The dump ends within the statement of line ${at}.`);
          return { text: cut(last, at), line: at };
        }
        await fill();
      }
    },

    /** Yields the lines after the `COPY … FROM stdin;` that `next` has just returned, without the line `\.`. @throws LoadError */
    async *copyData(): AsyncGenerator<Buffer, void, void> {
      const begin = line;
      const rest = await takeLine();
      if (rest.toString('latin1').trim() !== '')
        throw new LoadError(`Line ${begin} continues after COPY … FROM stdin.`);
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
        // Keeps the start of a line that may turn out to be the end marker.
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

/** PostgreSQL ends a comment at either LF or CR. */
const lineEnd = (bytes: Buffer) => bytes.findIndex(isLineEnd);

const isComment = (bytes: Buffer) => bytes[0] === DASH && bytes[1] === DASH;

/** Whether more bytes are needed to recognize the start of a line or the end of a comment line. */
function isCut(bytes: Buffer): boolean {
  if (bytes.length < MAX_PREFIX_BYTES) return true;
  return isComment(bytes) && bytes.length <= MAX_STATEMENT_BYTES && lineEnd(bytes) === -1;
}

/** The number of leading bytes that are whitespace, a comment line or a byte order mark. */
function blankBytes(bytes: Buffer): number {
  if (isComment(bytes)) return lineEnd(bytes) + 1;
  return /^(?:[ \t\r\n\f\v]+|\xef\xbb\xbf)/.exec(bytes.toString('latin1', 0, MAX_LINE_BYTES))?.[0].length ?? 0;
}

function findEndLine(bytes: Buffer): number | undefined {
  for (let at = bytes.indexOf(END_OF_DATA); at !== -1; at = bytes.indexOf(END_OF_DATA, at + 1))
    if (isEndLine(bytes, at + 1)) return at + 1;
  return undefined;
}

/** Matches `\.` with its line end (LF or CRLF), which is optional at the end of the file. */
function isEndLine(bytes: Buffer, at: number): boolean {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== 0x2e) return false;
  const next = bytes[at + 2] === 0x0d ? bytes[at + 3] : bytes[at + 2];
  return next === undefined || next === NEWLINE;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function decode(bytes: Buffer, line: number): string {
  if (bytes.includes(0)) throw new LoadError(`The statement of line ${line} has zero bytes: it is not SQL.`);
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new LoadError(`The statement of line ${line} is not UTF-8.`, { cause });
  }
}
