import { jest } from '@jest/globals';
import { listen } from '@taskmesh/testing';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { createHeartbeats, keepAlive } from '../src/timers.ts';

const EVERY_MS = 12_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a client with a large result', () => {
  const RESULT = Buffer.alloc(48 * 1024 * 1024);

  const connect = async () => {
    jest.useRealTimers();
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    const opened = once(sockets, 'connection') as Promise<[WebSocket]>;
    const { url } = await listen(server);
    const client = new WebSocket(url.replace('http', 'ws'));
    const [[socket]] = await Promise.all([opened, once(client, 'open')]);
    client.pause();
    keepAlive(socket, createHeartbeats(1_000));
    socket.send(RESULT);
    return { client, socket };
  };

  it('is kept as long as it reads, even if it is slow', async () => {
    const { client } = await connect();
    const reading = setInterval(() => (client.resume(), setImmediate(() => client.pause())), 300);
    const [result] = (await Promise.race([once(client, 'message'), once(client, 'close')])) as [Buffer | number];
    clearInterval(reading);
    client.terminate();
    expect(result).toHaveLength(RESULT.length);
  });

  it('is cut if it reads nothing', async () => {
    const { client, socket } = await connect();
    await once(socket, 'close', { signal: AbortSignal.timeout(4_000) });
    client.terminate();
  });
});

it('beats once per interval for each connection, first after one interval', () => {
  const heartbeats = createHeartbeats(EVERY_MS);
  const counts = Array.from({ length: 100 }, () => {
    const beat = jest.fn();
    heartbeats.add(beat);
    jest.advanceTimersByTime(37); // connections arrive one after another
    return beat;
  });
  const calls = () => new Set(counts.map((beat) => beat.mock.calls.length));
  expect(calls()).toEqual(new Set([0]));
  jest.advanceTimersByTime(EVERY_MS);
  expect(calls()).toEqual(new Set([1]));
  jest.advanceTimersByTime(9 * EVERY_MS);
  expect(calls()).toEqual(new Set([10]));
});

it('needs one timer for any number of connections, and none without connections', () => {
  const heartbeats = createHeartbeats(EVERY_MS);
  const leave = Array.from({ length: 1_000 }, () => heartbeats.add(() => undefined));
  expect(jest.getTimerCount()).toBe(1);
  for (const each of leave) each();
  expect(jest.getTimerCount()).toBe(0);
});

it('does not beat for a removed connection, even if one of the same turn removes it', () => {
  const heartbeats = createHeartbeats(EVERY_MS);
  const left = jest.fn();
  const leave: (() => void)[] = [];
  heartbeats.add(() => leave.forEach((each) => each()));
  leave.push(heartbeats.add(left));
  jest.advanceTimersByTime(3 * EVERY_MS);
  expect(left).not.toHaveBeenCalled();
});
