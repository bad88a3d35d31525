const LINE_END = 10;
const MAX_LINE = 4_096;
const MAX_TRAILERS = 100;
const SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i;

/** Reads a body, piece by piece. */
export interface BodyReader {
  /** The index behind the body in these bytes; undefined when more has to come. @throws Error when the body is malformed */
  read(bytes: Buffer, from: number): number | undefined;
  text(): string;
}

/** A body in chunks (RFC 9112, 7.1). */
export function createChunkedBody(maxBytes: number): BodyReader {
  const parts: Buffer[] = [];
  let state: 'size' | 'data' | 'end of data' | 'trailers' = 'size';
  let total = 0;
  /** The bytes that the current chunk still lacks. */
  let left = 0;
  /** The beginning of the current line: a chunk's size, its end, or a trailer. */
  let line = '';
  let trailers = 0;

  const begin = (size: string | undefined) => {
    if (size === undefined) throw new Error('A chunk of the response has no size.');
    left = parseInt(size, 16);
    total += left;
    if (total > maxBytes) throw new Error('The answer is too large.');
    state = left === 0 ? 'trailers' : 'data';
  };

  /** Whether this line ends the body. */
  const takeLine = (content: string): boolean => {
    switch (state) {
      case 'size':
        begin(SIZE.exec(content)?.[1]);
        return false;
      case 'trailers':
        if (content === '') return true;
        if (++trailers > MAX_TRAILERS) throw new Error('The response has too many trailers.');
        return false;
      default:
        if (content !== '') throw new Error('A chunk of the response is longer than its size.');
        state = 'size';
        return false;
    }
  };

  return {
    read(bytes, from) {
      let at = from;
      while (at < bytes.length) {
        if (state === 'data') {
          const end = Math.min(at + left, bytes.length);
          parts.push(Buffer.from(bytes.subarray(at, end)));
          left -= end - at;
          at = end;
          if (left === 0) state = 'end of data';
          continue;
        }
        const lineEnd = bytes.indexOf(LINE_END, at);
        line += bytes.toString('latin1', at, lineEnd === -1 ? bytes.length : lineEnd);
        if (line.length > MAX_LINE) throw new Error('A line of the response is too long.');
        if (lineEnd === -1) return undefined;
        at = lineEnd + 1;
        if (!line.endsWith('\r')) throw new Error('A line of the response has no proper end.');
        const content = line.slice(0, -1);
        line = '';
        if (takeLine(content)) return at;
      }
      return undefined;
    },
    text: () => Buffer.concat(parts).toString(),
  };
}
