import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { createFrames } from '../src/socket.ts';

const NOTHING = { before: '', after: '' };
const ENVELOPE = { before: '{"id":"ä",', after: '}€' };

describe('the frame of a text message', () => {
  let server: Server;
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  let client: WebSocket;
  let served: WebSocket;
  let connection: Duplex;

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const upgraded = once(server, 'upgrade').then(([request, socket, head]) => {
      connection = socket as Duplex;
      sockets.handleUpgrade(request, connection, head as Buffer, (webSocket) => (served = webSocket));
    });
    client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`); // always an AddressInfo for TCP
    await Promise.all([upgraded, once(client, 'open')]);
  });
  afterAll(() => {
    client.terminate();
    sockets.close();
    server.close();
  });

  const whatIsWritten = (write: () => void): Buffer => {
    const chunks: Buffer[] = [];
    const original = connection.write;
    connection.write = (chunk: string | Buffer) => chunks.push(Buffer.from(chunk)) > 0;
    write();
    connection.write = original;
    return Buffer.concat(chunks);
  };

  const texts = [
    '',
    'a',
    ...[125, 126, 65_535, 65_536].map((size) => 'x'.repeat(size)),
    'ä€𝄞'.repeat(20_000),
    '\ud800',
  ];

  it.each(texts.map((text) => [text.length, text] as const))('is what ws writes (%s characters)', (_, text) => {
    const frameOf = createFrames();
    for (const envelope of [NOTHING, ENVELOPE]) {
      const expected = whatIsWritten(() => served.send(envelope.before + text + envelope.after));
      expect(frameOf(envelope, text).equals(expected)).toBe(true);
    }
  });

  it('is read between the messages of ws, in order', async () => {
    const frameOf = createFrames();
    const read: string[] = [];
    client.on('message', (bytes) => void read.push(String(bytes)));
    texts.forEach((text, index) => {
      if (index % 2 > 0) served.send(text);
      else connection.write(frameOf(NOTHING, text));
    });
    served.close();
    await once(client, 'close');
    expect(read).toEqual(texts.map((text) => text.toWellFormed()));
  });
});

describe('equal messages, one right after the other', () => {
  const one = { before: '[', after: ']' };

  it('share a frame', () => {
    const frameOf = createFrames();
    expect(frameOf(one, 'json')).toBe(frameOf({ ...one }, 'json'));
  });

  it.each([
    ['JSON', one, 'other'],
    ['beginning', { before: '{', after: ']' }, 'json'],
    ['end', { before: '[', after: '}' }, 'json'],
  ])('do not when the %s differs', (_, envelope, json) => {
    const frameOf = createFrames();
    frameOf(one, 'json');
    expect(frameOf(envelope, json)).toEqual(createFrames()(NOTHING, envelope.before + json + envelope.after));
  });
});
