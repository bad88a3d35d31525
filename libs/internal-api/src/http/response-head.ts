/** What determines how the rest of a response is read, and whether the connection is kept. */
export interface ResponseHead {
  status: number;
  /** Undefined for a body in chunks, and for one that ends with the connection. */
  length: number | undefined;
  isChunked: boolean;
  /** Whether the connection may be used for another request. */
  isKept: boolean;
  /** How long the service keeps the connection, in seconds, if it says so. */
  keptS: number | undefined;
  /** The value of `Date`. */
  date: string | undefined;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: .*)?$/;
const HEADER = /^[\w!#$%&'*+.^`|~-]+:[^\r\n\0]*$/;
const LENGTH = /^\d{1,15}$/;
const KEPT_S = /(?:^|[\s,])timeout=(\d{1,6})/i;

/** @throws Error for anything that is not clearly HTTP/1.1, as two readers could understand it differently */
export function parseResponseHead(text: string): ResponseHead {
  const [first = '', ...lines] = text.split('\r\n');
  const [, minor, code] = STATUS_LINE.exec(first) ?? refuse('status line');
  const status = Number(code);
  const none = { length: undefined, keptS: undefined, date: undefined };
  const head: ResponseHead = { ...none, status, isChunked: false, isKept: minor === '1' };
  for (const line of lines) {
    if (!HEADER.test(line)) refuse('header');
    const colon = line.indexOf(':');
    readHeader(head, line.slice(0, colon).toLowerCase(), line.slice(colon + 1));
  }
  if (head.isChunked && head.length !== undefined) refuse('length');
  if (hasNoBody(status)) return { ...head, length: 0, isChunked: false };
  if (!head.isChunked && head.length === undefined) head.isKept = false;
  return head;
}

function readHeader(head: ResponseHead, name: string, value: string): void {
  switch (name) {
    case 'content-length': {
      const length = value.trim();
      if (!LENGTH.test(length) || head.length !== undefined) refuse('length');
      head.length = Number(length);
      return;
    }
    case 'transfer-encoding':
      if (head.isChunked || value.trim().toLowerCase() !== 'chunked') refuse('transfer encoding');
      head.isChunked = true;
      return;
    case 'connection':
      if (/\bclose\b/i.test(value)) head.isKept = false;
      return;
    case 'keep-alive':
      head.keptS = Number(KEPT_S.exec(value)?.[1] ?? NaN) || undefined;
      return;
    case 'date':
      head.date = value;
  }
}

const hasNoBody = (status: number) => status < 200 || status === 204 || status === 304;

function refuse(what: string): never {
  throw new Error(`The response has no proper ${what}.`);
}
