import { jest } from '@jest/globals';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { createMessageRate, frameWriter } from '../src/socket.ts';

const MIB = 1024 * 1024;
const frame = Buffer.alloc(MIB / 16);

/** A socket whose client reads nothing until `read` is called, and then everything. */
function unreadSocket() {
  const waiting: (() => void)[] = [];
  const connection = new Writable({ write: (_chunk, _encoding, taken) => void waiting.push(taken) });
  const socket = {
    ...{ OPEN: 1, readyState: 1 },
    get bufferedAmount() {
      return connection.writableLength;
    },
  } as unknown as WebSocket;
  const write = frameWriter(socket, connection);
  return {
    /** Whether all of it was written. */
    write: (bytes: number) => Array.from({ length: bytes / frame.length }, () => write(frame)).every(Boolean),
    read: () => {
      for (let taken = waiting.shift(); taken; taken = waiting.shift()) taken();
    },
  };
}

/** Until the system could have taken what was written. */
async function turns() {
  for (let count = 0; count < 3; count++) await turn();
}

describe('a client of a socket', () => {
  it('may be written 4 MiB at once', () => {
    const { write } = unreadSocket();
    expect(write(4 * MIB)).toBe(true);
    expect(write(frame.length)).toBe(true);
    expect(write(frame.length)).toBe(false);
  });

  it('is too far behind when more than 1 MiB is unread of what was written before', async () => {
    const { write } = unreadSocket();
    expect(write(MIB + frame.length)).toBe(true);
    await turns();
    expect(write(frame.length)).toBe(false);
  });

  it('may leave 1 MiB unread', async () => {
    const { write } = unreadSocket();
    write(MIB);
    await turns();
    expect(write(frame.length)).toBe(true);
  });

  it('may be written as much again once it has read', async () => {
    const { write, read } = unreadSocket();
    for (let burst = 0; burst < 3; burst++) {
      expect(write(2 * MIB)).toBe(true);
      await turns();
      read();
      await turns();
    }
  });

  it('may send so many messages a second, and 64 KiB, counted over ten seconds', () => {
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
