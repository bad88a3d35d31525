import { createChunkedBody, type BodyReader } from './chunked-body.ts';
import { parseResponseHead, type ResponseHead } from './response-head.ts';

export interface Answer {
  status: number;
  text: string;
  /** When the service made it, by its own clock. */
  date?: string | undefined;
}

export interface ReadResponse extends Answer {
  isKept: boolean;
  keptS: number | undefined;
}

/** Reads the responses of one connection, one after the other. */
export interface ResponseReader {
  /**
   * Returns the response once it is complete. Keeps none of the bytes, which may be overwritten.
   * @throws Error for anything that is not clearly a response; the connection is then unusable
   */
  read(bytes: Buffer): ReadResponse | undefined;
  /** The response that ends with the connection, if there is one. */
  end(): ReadResponse | undefined;
  /** Whether the head of a response has arrived, but not all of its body. */
  readonly hasBegun: boolean;
}

const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 64 * 1024;

export function createResponseReader(maxBytes: number): ResponseReader {
  /** The beginning of an incomplete head. */
  let pending: Buffer | undefined;
  let head: ResponseHead | undefined;
  let body: BodyReader | undefined;

  const finish = ({ status, isKept, keptS, date }: ResponseHead, text: string, isLast: boolean): ReadResponse => {
    head = undefined;
    body = undefined;
    // Bytes behind a complete response were not requested.
    return { status, text, isKept: isKept && isLast, keptS, date };
  };

  const readBody = (reader: BodyReader, of: ResponseHead, bytes: Buffer, from: number) => {
    const end = reader.read(bytes, from);
    return end === undefined ? undefined : finish(of, reader.text(), end === bytes.length);
  };

  const readHead = (bytes: Buffer, from: number): ReadResponse | undefined => {
    const end = bytes.indexOf(HEAD_END, from, 'latin1');
    if (end === -1) {
      if (bytes.length - from > MAX_HEAD_BYTES) throw new Error('The head of the response is too long.');
      pending = Buffer.from(bytes.subarray(from));
      return undefined;
    }
    const found = parseResponseHead(bytes.toString('latin1', from, end));
    const start = end + HEAD_END.length;
    if (found.status === 101) throw new Error('The service speaks another protocol.');
    if (found.status < 200) return readHead(bytes, start);
    const { length } = found;
    if (length !== undefined && length > maxBytes) throw new Error('The answer is too large.');
    if (length !== undefined && start + length <= bytes.length)
      return finish(found, bytes.toString('utf8', start, start + length), start + length === bytes.length);
    head = found;
    body = bodyOf(found, maxBytes);
    return readBody(body, found, bytes, start);
  };

  return {
    read(bytes) {
      if (head && body) return readBody(body, head, bytes, 0);
      if (!pending) return readHead(bytes, 0);
      const all = Buffer.concat([pending, bytes]);
      pending = undefined;
      return readHead(all, 0);
    },
    end: () =>
      head && body && !head.isChunked && head.length === undefined ? finish(head, body.text(), true) : undefined,
    get hasBegun() {
      return head !== undefined;
    },
  };
}

function bodyOf({ isChunked, length }: ResponseHead, maxBytes: number): BodyReader {
  if (isChunked) return createChunkedBody(maxBytes);
  return length === undefined ? createOpenBody(maxBytes) : createSizedBody(length);
}

function createSizedBody(length: number): BodyReader {
  const whole = Buffer.allocUnsafe(length);
  let filled = 0;
  return {
    read(bytes, from) {
      const taken = Math.min(length - filled, bytes.length - from);
      bytes.copy(whole, filled, from, from + taken);
      filled += taken;
      return filled === length ? from + taken : undefined;
    },
    text: () => whole.toString(),
  };
}

/** A body that ends with the connection. */
function createOpenBody(maxBytes: number): BodyReader {
  const parts: Buffer[] = [];
  let total = 0;
  return {
    read(bytes, from) {
      total += bytes.length - from;
      if (total > maxBytes) throw new Error('The answer is too large.');
      parts.push(Buffer.from(bytes.subarray(from)));
      return undefined;
    },
    text: () => Buffer.concat(parts).toString(),
  };
}
