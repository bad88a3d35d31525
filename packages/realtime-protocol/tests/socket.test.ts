import { listen } from '@taskmesh/testing';
import { jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import * as ws from 'ws';
import { WebSocket, WebSocketServer } from 'ws';
import { createMessageRate, unfinishedBytes } from '../src/incoming.ts';
import { closeAllGracefully, createFrames, frameWriter, waitForDrain, writeShared } from '../src/socket.ts';

const MIB = 1024 * 1024;
const frame = Buffer.alloc(MIB / 16);

/** A socket whose client reads nothing until `read` is called, and then everything. */
function unreadSocket() {
  const waiting: (() => void)[] = [];
  const written: Buffer[] = [];
  const connection = new Writable({
    write(chunk: Buffer, _encoding, taken) {
      written.push(chunk);
      waiting.push(taken);
    },
  });
  const socket = {
    ...{ OPEN: 1, readyState: 1 },
    get bufferedAmount() {
      return connection.writableLength;
    },
  } as unknown as WebSocket;
  const write = frameWriter(socket, connection);
  return {
    ...{ socket, connection, written },
    /** Whether everything was written. */
    write: (bytes: number) => Array.from({ length: bytes / frame.length }, () => write(frame)).every(Boolean),
    read: () => {
      for (let taken = waiting.shift(); taken; taken = waiting.shift()) taken();
    },
  };
}

/** Waits until the system could have accepted what was written. */
async function turns() {
  for (let count = 0; count < 3; count++) await turn();
}

describe('the client of a socket', () => {
  it('may be sent 4 MiB at once', () => {
    const { write } = unreadSocket();
    expect(write(4 * MIB)).toBe(true);
    expect(write(frame.length)).toBe(true);
    expect(write(frame.length)).toBe(false);
  });

  it.each([
    [MIB, true],
    [MIB + frame.length, false],
  ])('may leave 1 MiB of earlier data unread, and is too slow with more: %d bytes', async (unread, isFast) => {
    const { write } = unreadSocket();
    expect(write(unread)).toBe(true);
    await turns();
    expect(write(frame.length)).toBe(isFast);
  });

  it('may be sent as much again once it has read', async () => {
    const { write, read } = unreadSocket();
    for (let burst = 0; burst < 3; burst++) {
      expect(write(2 * MIB)).toBe(true);
      await turns();
      read();
      await turns();
    }
  });

  it('may send a number of messages and 64 KiB per second, averaged over ten seconds', () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const mayTalk = createMessageRate(2);
    expect(Array.from({ length: 21 }, () => mayTalk())).toEqual([...Array<boolean>(20).fill(true), false]);
    now = 10_000;
    expect(mayTalk()).toBe(true);
    expect([mayTalk(2 * MIB), mayTalk()]).toEqual([true, false]);
    now = 20_000;
    expect(Array.from({ length: 12 }, () => mayTalk(64 * 1_024))).toEqual([
      ...Array<boolean>(10).fill(true),
      false,
      false,
    ]);
    jest.restoreAllMocks();
  });
});

it('replays that wait until a socket is drained share a timer, and go on as long as those before them leave room', async () => {
  const { socket, write, read } = unreadSocket();
  write(MIB);
  let released = 0;
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const waits = Array.from({ length: 3 }, async () => {
    await waitForDrain(socket);
    released++;
    write(2 * frame.length);
  });
  expect(timers).toHaveBeenCalledTimes(1);
  timers.mockRestore();
  for (const [index, wait] of waits.entries()) {
    read();
    await wait;
    await turns();
    expect(released).toBe(index + 1);
  }
});

it('bytes for many connections are written without a copy, and retain only their own memory while they are buffered', () => {
  const { connection, written, read } = unreadSocket();
  const bytes = Buffer.from('an event');
  writeShared(connection, bytes);
  writeShared(connection, bytes);
  expect(written[0]).toBe(bytes);
  read();
  expect(bytes.buffer.byteLength).toBeGreaterThan(bytes.length); // the pool of small buffers
  expect(written[1]).toEqual(bytes);
  expect(written[1]?.buffer.byteLength).toBe(bytes.length);
});

const NOTHING = { before: '', after: '' };
const ENVELOPE = { before: '{"id":"ä",', after: '}€' };

/** The frame that ws would write. */
function frameOfWs(text: string): Buffer {
  interface Frames {
    frame(data: Buffer, options: object): Buffer[];
  }
  const { Sender } = ws as unknown as { Sender: Frames };
  return Buffer.concat(Sender.frame(Buffer.from(text), { fin: true, opcode: 1, rsv1: false, mask: false }));
}

it.each(['', 'a', ...[125, 126, 65_535, 65_536].map((size) => 'x'.repeat(size)), 'ä€𝄞'.repeat(20_000), '\ud800'])(
  'the frame of a text message equals that of ws: %#',
  (text) => {
    const frameOf = createFrames();
    for (const { before, after } of [NOTHING, ENVELOPE])
      expect(frameOf({ before, after }, text).equals(frameOfWs(before + text + after))).toBe(true);
  },
);

it('equal messages in a row share a frame, and others do not', () => {
  const one = { before: '[', after: ']' };
  const frameOf = createFrames();
  expect(frameOf(one, 'json')).toBe(frameOf({ ...one }, 'json'));
  const others = [{}, { before: '{' }, { after: '}' }].map((part) => ({ ...one, ...part }));
  for (const [index, envelope] of others.entries()) {
    const json = index === 0 ? 'other' : 'json';
    frameOf(one, 'json');
    expect(frameOf(envelope, json)).toEqual(createFrames()(NOTHING, envelope.before + json + envelope.after));
  }
});

/** What a server reads of a socket, without a connection. */
function createReceiver() {
  interface Receiver extends Writable {
    _fragments: Buffer[];
  }
  const { Receiver } = ws as unknown as { Receiver: new (options: object) => Receiver };
  const receiver = new Receiver({ isServer: true });
  return { receiver, socket: { _receiver: receiver, _socket: null } as unknown as WebSocket };
}

const [BEGIN, GO_ON, END, PING, PONG] = [0x01, 0x00, 0x80, 0x89, 0x8a];
/** A frame of which only the first bytes have arrived, if `arrived` is given. */
const frameBytes = (kind: number, length: number, arrived = length): number[] => [
  ...[kind, 0x80 | length, 0, 0, 0, 0],
  ...Array<number>(arrived).fill(120),
];
const chunkOf = (...frames: number[][]) => Buffer.from(Uint8Array.from(frames.flat()).buffer);

describe('the memory of an unfinished message', () => {
  const PIECE = 256;
  const pongs = Array.from({ length: 400 }, () => frameBytes(PONG, 125));

  it('is added up only after more of it has arrived', () => {
    const { receiver, socket } = createReceiver();
    receiver.write(chunkOf(frameBytes(BEGIN, 1), ...Array.from({ length: 254 }, () => frameBytes(GO_ON, 1))));
    let looks = 0;
    for (const piece of receiver._fragments) {
      const { buffer } = piece;
      Object.defineProperty(piece, 'buffer', { get: () => (looks++, buffer) });
    }
    const first = unfinishedBytes(socket);
    expect([first, unfinishedBytes(socket), looks]).toEqual([255 * (PIECE + 7), first, 255]);
    receiver.write(chunkOf(frameBytes(GO_ON, 1)));
    expect([unfinishedBytes(socket), looks]).toEqual([256 * (PIECE + 7), 510]);
  });

  it.each([
    ['a piece', frameBytes(BEGIN, 1), frameBytes(END, 1)],
    ['a part of a frame', frameBytes(PING, 5, 2), [1, 2, 3]],
  ])('is that of its own chunk when it looks like the one before: %s', (_what, unfinished, rest) => {
    const { receiver, socket } = createReceiver();
    receiver.write(chunkOf(unfinished));
    expect(unfinishedBytes(socket)).toBe(PIECE + unfinished.length);
    const next = chunkOf(rest, ...pongs, unfinished);
    receiver.write(next);
    expect(unfinishedBytes(socket)).toBe(PIECE + next.length);
  });
});

it('a stopping server terminates clients that do not go', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const { port } = await listen(server);
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  await Promise.all([once(sockets, 'connection'), once(client, 'open')]);
  const closed = once(client, 'close');
  client.pause();
  await closeAllGracefully(sockets, { goodbyeMs: 100 });
  expect(sockets.clients.size).toBe(0);
  client.resume();
  await closed;
  server.close();
});
