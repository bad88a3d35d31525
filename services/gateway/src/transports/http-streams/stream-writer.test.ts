import { eventually, listen } from '@taskmesh/testing';
import { GraphQLError } from 'graphql';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createHeartbeats } from '@taskmesh/realtime-protocol';
import { createEventChunks, multipart, sse } from './formats.ts';
import { StreamWriter } from './stream-writer.ts';

const HEARTBEAT_MS = 48;
/** More than all buffers along the way can hold. */
const LARGE = 16 * 1024 * 1024;
const FORMATS = { sse, multipart };
const failure = new GraphQLError('The session has ended.');
const heartbeats = createHeartbeats(HEARTBEAT_MS);

let port: number;
let answer: (response: ServerResponse) => void;
const openWriter = (raw: ServerResponse, format: (typeof FORMATS)['sse']) => {
  const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) };
  const writer = new StreamWriter(reply, { format, chunkOf: createEventChunks(format), heartbeats });
  writer.open();
  return writer;
};
beforeAll(async () => {
  ({ port } = await listen(createServer((_request, response) => answer(response))));
});

describe.each(['sse', 'multipart'] as const)('a stream over %s that fails after an event', (kind) => {
  const format = FORMATS[kind];
  let response: ServerResponse | undefined;
  const answerWith = (json: string) => {
    answer = (raw) => {
      response = raw;
      const writer = openWriter(raw, format);
      writer.next(json, { cursor: 'c' });
      writer.fail(failure);
    };
  };

  it('delivers both to a client that reads only after heartbeats were due', async () => {
    answerWith(JSON.stringify({ data: { text: 'ä€𝄞'.repeat(LARGE / 8) } }));
    const [incoming] = (await once(get({ port, agent: false }), 'response')) as [IncomingMessage];
    await eventually(() => expect(response?.writableEnded).toBe(true));
    await new Promise((resolve) => setTimeout(resolve, 2 * HEARTBEAT_MS));
    expect(response?.writableFinished).toBe(false);
    const read = await text(incoming);
    expect(read.length).toBeGreaterThan(LARGE / 4);
    expect(read.endsWith(format.failure([failure]))).toBe(true);
  });

  it('is not chunked in HTTP/1.0', async () => {
    const json = '{"data":{"text":"ä€𝄞"}}';
    answerWith(json);
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.0\r\n\r\n');
    expect((await text(socket)).split('\r\n\r\n').slice(1).join('\r\n\r\n')).toBe(
      format.opening + format.next(json, 'c') + format.failure([failure]),
    );
  });
});

it.each(['reads', 'leaves'])('a replay waits, without a timer, until the client %s', async (act) => {
  const opened = Promise.withResolvers<StreamWriter>();
  answer = (raw) => opened.resolve(openWriter(raw, sse));
  const [incoming] = (await once(get({ port, agent: false }), 'response')) as [IncomingMessage];
  const writer = await opened.promise;
  await writer.drained();
  writer.next('x'.repeat(LARGE), { cursor: 'c' });
  const timers = jest.spyOn(globalThis, 'setTimeout');
  let isDrained = false;
  const drained = writer.drained().then(() => (isDrained = true));
  expect(timers).not.toHaveBeenCalled();
  timers.mockRestore();
  await once(incoming, 'readable');
  expect(isDrained).toBe(false);
  if (act === 'reads') incoming.resume();
  else incoming.destroy();
  await drained;
  incoming.destroy();
});
