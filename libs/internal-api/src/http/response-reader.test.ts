import { createResponseReader, type ReadResponse } from './response-reader.ts';

const MAX_BYTES = 10_000;

/** Reads a text in pieces that end at these places, and then the end of the connection. */
function readIn(text: string | Buffer, ends: readonly number[]): ReadResponse[] {
  const reader = createResponseReader(MAX_BYTES);
  const bytes = Buffer.from(text);
  const found: (ReadResponse | undefined)[] = [];
  // The buffer is used again for every piece, as sockets do.
  const arrivals = Buffer.alloc(bytes.length);
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    arrivals.fill('#');
    const count = bytes.copy(arrivals, 0, from, end);
    found.push(reader.read(arrivals.subarray(0, count)));
    from = end;
  }
  return [...found, reader.end()].filter((each) => each !== undefined);
}

const OK = 'HTTP/1.1 200 OK\r\n';

const RESPONSES: [string, string, Partial<ReadResponse>][] = [
  ['with a length', `${OK}Content-Length: 10\r\n\r\nä und ö!`, { text: 'ä und ö!', isKept: true }],
  ['without a body', `${OK}content-length: 0\r\n\r\n`, { text: '', isKept: true }],
  ['that has none', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, text: '', isKept: true }],
  ['without a reason', 'HTTP/1.1 503 \r\ncontent-length: 1\r\n\r\nx', { status: 503, text: 'x' }],
  ['without even a space', 'HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx', { text: 'x' }],
  [
    'in chunks',
    `${OK}Transfer-Encoding: Chunked\r\n\r\n3\r\nä \r\n00A;x="y"\r\nund ö\r\n!!\r\n0\r\nx-trailer: 1\r\n\r\n`,
    { text: 'ä und ö\r\n!!', isKept: true },
  ],
  ['that ends with the connection', `${OK}\r\nall of it`, { text: 'all of it', isKept: false }],
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx', { text: 'x', isKept: false }],
  ['that is the last', `${OK}connection: Close\r\ncontent-length: 1\r\n\r\nx`, { text: 'x', isKept: false }],
  [
    'that tells how long the connection is kept',
    `${OK}Connection: keep-alive\r\nKeep-Alive: max=3, timeout=5\r\ncontent-length: 1\r\n\r\nx`,
    { text: 'x', isKept: true, keptS: 5 },
  ],
  [
    'behind others that are none yet',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${OK}content-length: 1\r\n\r\nx`,
    { text: 'x', isKept: true },
  ],
];

describe('a response', () => {
  it.each(RESPONSES)('%s is read, in whatever pieces it comes', (_what, text, expected) => {
    const size = Buffer.byteLength(text);
    const [whole, ...others] = readIn(text, []);
    expect(others).toEqual([]);
    expect(whole).toMatchObject(expected);
    for (let first = 1; first < size; first++) expect(readIn(text, [first])).toEqual([whole]);
    const each = Array.from({ length: size - 1 }, (_, index) => index + 1);
    expect(readIn(text, each)).toEqual([whole]);
  });

  it('with bytes behind it that nobody asked for is the last one of its connection', () => {
    for (const body of ['content-length: 1\r\n\r\nx', 'transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n'])
      expect(readIn(`${OK}${body}HTTP/1.1`, [])).toMatchObject([{ text: 'x', isKept: false }]);
  });

  it('comes behind another one', () => {
    const reader = createResponseReader(MAX_BYTES);
    for (const text of ['a', 'b'])
      expect(reader.read(Buffer.from(`${OK}content-length: 1\r\n\r\n${text}`))).toMatchObject({ text });
  });

  it.each([
    ['a cut off head', OK],
    ['a cut off body', `${OK}content-length: 2\r\n\r\nx`],
    ['cut off chunks', `${OK}transfer-encoding: chunked\r\n\r\n2\r\nxx\r\n`],
  ])('is not there with %s', (_what, text) => {
    expect(readIn(text, [])).toEqual([]);
  });
});

it('tells whether a response has begun', () => {
  const reader = createResponseReader(MAX_BYTES);
  expect(reader.hasBegun).toBe(false);
  reader.read(Buffer.from(`${OK}content-length: 2\r\n\r\nx`));
  expect(reader.hasBegun).toBe(true);
  reader.read(Buffer.from('x'));
  expect(reader.hasBegun).toBe(false);
});

describe('no response', () => {
  it.each([
    ['another protocol', 'SSH-2.0-x\r\n\r\n'],
    ['another version', 'HTTP/2 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n'],
    ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`],
    ['a negative length', `${OK}content-length: -1\r\n\r\n`],
    ['a list of lengths', `${OK}content-length: 1, 1\r\n\r\nx`],
    ['a length in chunks', `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`],
    ['another transfer encoding', `${OK}transfer-encoding: gzip, chunked\r\n\r\n`],
    ['the same one twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`],
    ['a space before a colon', `${OK}content-length : 1\r\n\r\nx`],
    ['a folded header', `${OK}x: y\r\n z\r\n\r\n`],
    ['a header with a line end in it', `${OK}x: y\nz: w\r\n\r\n`],
    ['a header without a name', `${OK}: 1\r\n\r\n`],
    ['a line that ends without a return', `HTTP/1.1 200 OK\ncontent-length: 1\r\n\r\nx`],
    ['a chunk without a size', `${OK}transfer-encoding: chunked\r\n\r\nx\r\n`],
    ['a chunk with a signed size', `${OK}transfer-encoding: chunked\r\n\r\n+1\r\nx\r\n`],
    ['a chunk that is longer than it says', `${OK}transfer-encoding: chunked\r\n\r\n1\r\nxx\r\n`],
    ['a chunk whose size ends without a return', `${OK}transfer-encoding: chunked\r\n\r\n1\nx\r\n`],
    ['a length above the limit', `${OK}content-length: ${MAX_BYTES + 1}\r\n\r\n`],
    ['chunks above the limit', `${OK}transfer-encoding: chunked\r\n\r\nffff\r\n`],
    ['a body above the limit', `${OK}\r\n${'x'.repeat(MAX_BYTES + 1)}`],
    ['a head above the limit', `${OK}x: ${'x'.repeat(70_000)}`],
    ['a chunk extension above the limit', `${OK}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(5_000)}`],
    ['trailers above the limit', `${OK}transfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(101)}`],
  ])('is %s', (_what, text) => {
    expect(() => readIn(text, [])).toThrow();
    expect(() => readIn(text, [1])).toThrow();
  });
});
