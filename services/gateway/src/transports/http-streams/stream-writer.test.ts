import { eventually } from '@taskmesh/testing';
import { GraphQLError } from 'graphql';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHeartbeats, type Heartbeats } from '@taskmesh/realtime-protocol';
import { createEventChunks, multipart, sse, type StreamFormat } from './formats.ts';
import { StreamWriter } from './stream-writer.ts';

const HEARTBEAT_MS = 48;
/** More than all buffers along the way can hold. */
const LARGE = 16 * 1024 * 1024;
const FORMATS = { sse, multipart };
const failure = new GraphQLError('The session has ended.');

let server: Server;
let answer: (response: ServerResponse, request: IncomingMessage) => void;
const heartbeats = createHeartbeats(HEARTBEAT_MS);

beforeAll(async () => {
  server = createServer((request, response) => answer(response, request)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  server.closeAllConnections(); // those of a test that failed midway
  await once(server, 'close');
});

function writerOf(raw: ServerResponse, format: StreamFormat, beats: Heartbeats = heartbeats): StreamWriter {
  const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) };
  return new StreamWriter(reply, { format, chunkOf: createEventChunks(format), heartbeats: beats });
}

/** What a client receives that starts reading only after the stream has ended and heartbeats were due. */
async function readLate(kind: keyof typeof FORMATS, write: (writer: StreamWriter) => void): Promise<string> {
  let response: ServerResponse | undefined;
  answer = (raw) => {
    response = raw;
    write(writerOf(raw, FORMATS[kind]));
  };
  const { port } = server.address() as AddressInfo; // always an AddressInfo for TCP
  const [incoming] = (await once(get({ port, host: '127.0.0.1', agent: false }), 'response')) as [IncomingMessage];
  await eventually(() => expect(response?.writableEnded).toBe(true));
  await new Promise((resolve) => setTimeout(resolve, 2 * HEARTBEAT_MS));
  expect(response?.writableFinished).toBe(false);
  return text(incoming);
}

describe.each(['sse', 'multipart'] as const)('a stream over %s whose client reads slowly', (kind) => {
  const large = JSON.stringify({ data: { text: 'x'.repeat(LARGE) } });

  it('brings the error that ends it, behind all that came before', async () => {
    const read = await readLate(kind, (writer) => {
      writer.open();
      writer.next(large, { cursor: 'c' });
      writer.fail(failure);
    });
    expect(read.length).toBeGreaterThan(LARGE);
    expect(read.endsWith(FORMATS[kind].failure([failure]))).toBe(true);
  });
});

/** All bytes that a client gets for these requests, which it sends at once. */
async function bytesOf(requests: string): Promise<string> {
  const { port } = server.address() as AddressInfo; // always an AddressInfo for TCP
  const socket = connect({ port, host: '127.0.0.1' });
  socket.write(requests);
  return (await text(socket)).replaceAll(/^Date: .*$/gm, 'Date: …');
}

const silent: Heartbeats = { add: () => () => undefined };
const EVENTS = [
  ['{"data":{"title":"first"}}', 'one'],
  [`{"data":{"title":"${'ä€𝄞'.repeat(30_000)}"}}`, 'two'],
  ['{"data":{"title":"last"}}', 'three'],
] as const;

describe.each(['sse', 'multipart'] as const)('the bytes of a stream over %s', (kind) => {
  const format = FORMATS[kind];
  const byWriter = (response: ServerResponse) => {
    const writer = writerOf(response, format, silent);
    writer.open();
    for (const [json, cursor] of EVENTS) writer.next(json, { cursor });
    writer.fail(failure);
  };
  const byResponse = (response: ServerResponse) => {
    writerOf(response, format, silent).open();
    for (const [json, cursor] of EVENTS) response.write(format.next(json, cursor));
    response.end(format.failure([failure]));
  };

  it.each(['1.1', '1.0'])('are those that the response alone would write, in HTTP/%s', async (version) => {
    const request = `GET / HTTP/${version}\r\nhost: x\r\nconnection: close\r\n\r\n`;
    answer = byResponse;
    const expected = await bytesOf(request);
    answer = byWriter;
    expect(expected).toContain('first');
    expect(await bytesOf(request)).toBe(expected);
  });

  it('wait until the answer to the request before has been written', async () => {
    let first: ServerResponse | undefined;
    answer = (response, { url }) => {
      if (url === '/first') return void (first = response);
      byWriter(response);
      first?.end('the answer before');
    };
    const bytes = await bytesOf(
      'GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET /second HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
    );
    const order = ['HTTP/1.1 200', 'the answer before', format.contentType, '"first"', '"last"', format.ending];
    const places = order.map((part) => bytes.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });
});
