import { createLog } from '@taskmesh/service';
import { atEnd, eventually, listen } from '@taskmesh/testing';
import { openRaw, rawRequest, type RawSocket } from '@taskmesh/testing/raw';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { serveSequentially } from './client-connections.ts';
import { asClientRequest, clientRequests, holdMessage } from './client-request.ts';
import { memoryOf, readJsonObject } from './json-body.ts';
import { createMemory, type Holding, type Memory } from './memory.ts';

const MIB = 1024 * 1024;
const LOG = createLog({ service: 'test', level: 'silent' });

describe('a request', () => {
  let url: string;
  let held: Set<Holding>;
  let isShort: boolean;
  let findArriving: () => Holding[];
  const clientIp = ({ headers }: IncomingMessage) => String(headers['x-network']);

  const start = async (handle: (request: IncomingMessage, response: ServerResponse) => void, maxBytes = 128 * MIB) => {
    const memory = createMemory({ maxBytes, metrics: new Registry(), log: LOG });
    const hold: Memory['hold'] = (request, bytes) => {
      if (bytes > 0) held.add(request);
      else held.delete(request);
      return memory.hold(request, bytes);
    };
    const watch: Memory['watch'] = (find) => memory.watch((findArriving = find));
    const server = createServer(
      { IncomingMessage: clientRequests({ memory: { ...memory, hold, watch, isShort: () => isShort }, clientIp }) },
      handle,
    );
    serveSequentially(server);
    ({ url } = await listen(server));
    await memory.start();
    atEnd(() => memory.stop());
  };
  beforeEach(() => {
    held = new Set();
    isShort = false;
  });
  const now = { run: async <Result>(_network: string, work: () => Result) => work() };
  const POST = rawRequest('POST /', ['X-Network: n', 'Content-Type: application/json'], '{}');

  it('counts with its headers while it waits for the previous response', async () => {
    await start(() => undefined);
    const socket = await openRaw(url, rawRequest('GET /', ['X-Network: n', `X-Long: ${'x'.repeat(10_000)}`]).repeat(4));
    await eventually(() => expect(held.size).toBe(3));
    for (const { bytes, network } of held) expect([bytes > 14_000, bytes < 15_000, network]).toEqual([true, true, 'n']);
    socket.destroy();
    await eventually(() => expect(held.size).toBe(0));
  });

  describe('that arrives slowly', () => {
    const half = 'x'.repeat(5_000);
    const post = (network: string) =>
      openRaw(url, rawRequest('POST /', [`X-Network: ${network}`, `X-Long: ${half}`, 'Content-Length: 10000']) + half);
    const echo = (request: IncomingMessage, response: ServerResponse) => {
      let bytes = 0;
      request.on('error', () => undefined).on('data', ({ length }: Buffer) => (bytes += length));
      request.on('end', () => response.end(`read ${bytes}`));
    };
    const endAll = async (sent: RawSocket[]) => {
      for (const socket of sent) socket.write(half);
      await eventually(() =>
        expect(sent.map(({ response }) => response.slice(-10))).toEqual(sent.map(() => 'read 10000')),
      );
    };

    it('counts with its headers from its first byte, until it has arrived: of those with the most, the oldest are cut', async () => {
      await start(echo, MIB);
      const many: RawSocket[] = [];
      for (let at = 0; at < 80; at++) many.push(await post('many'));
      const other = await post('other');
      await eventually(() => expect(many[10]?.destroyed).toBe(true));
      const left = many.filter(({ destroyed }) => !destroyed);
      expect([many[0]?.destroyed, left.length > 40]).toEqual([true, true]);
      await endAll([...left, other]);
    });

    it('no longer counts once its connection has ended, even if it was answered before', async () => {
      await start((_request, response) => void response.writeHead(404).end());
      const socket = await post('n');
      await eventually(() => expect([findArriving().length, socket.response.includes(' 404 ')]).toEqual([1, true]));
      socket.destroy();
      await eventually(() => expect(findArriving()).toEqual([]));
    });

    it('is served beside hundreds of others, even of one network and while memory is short', async () => {
      isShort = true;
      await start(echo);
      const sent = await Promise.all(Array.from({ length: 400 }, () => post('n')));
      await delay(200);
      await endAll(sent);
    });
  });

  it('may wait for the previous response even while memory is short, if it is small', async () => {
    isShort = true;
    const responses: ServerResponse[] = [];
    await start((_request, response) => void responses.push(response));
    const sent = await openRaw(url, rawRequest('GET /', ['X-Network: n']).repeat(2));
    await eventually(() => expect(held.size).toBe(1));
    responses[0]?.end('one');
    await eventually(() => expect(responses).toHaveLength(2));
    responses[1]?.end('two');
    await eventually(() => expect(sent.response).toMatch(/one[^]*two/));
  });

  it('keeps nothing of its body after parsing, because a stream may run for hours', async () => {
    const kept: unknown[] = [];
    await start((request) => {
      void readJsonObject(request, { clientIp, blockingWork: now }).then(() =>
        kept.push(asClientRequest(request).onRefused),
      );
    });
    await openRaw(url, POST);
    await eventually(() => expect(kept).toEqual([undefined]));
  });

  it('is refused at once if its client left before its body is read', async () => {
    const errors: unknown[] = [];
    await start((request) => {
      const read = () => readJsonObject(request, { clientIp, blockingWork: now });
      request.once('close', () => void read().catch((error: unknown) => errors.push(error))).destroy();
    });
    await openRaw(url, POST);
    const issues = [{ message: 'The body ended too early.' }];
    await eventually(() => expect(errors).toMatchObject([{ code: 'BAD_USER_INPUT', issues }]));
  });

  it.each([
    ['has too many pieces, whose rest would be read as well', '1\r\nx\r\n'.repeat(4_097), /\r\nConnection: close\r\n/],
    ['is too large', `100001\r\n${'x'.repeat(MIB + 1)}\r\n`, /\r\nConnection: keep-alive\r\n/],
  ])('is the last one on its connection only if its body %s', async (_what, chunks, connection) => {
    await start((request, response) => {
      readJsonObject(request, { clientIp, blockingWork: now }).catch((error: Error) => response.end(error.message));
    });
    const headers = ['X-Network: n', 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const sent = await openRaw(url, rawRequest('POST /', headers) + chunks);
    await eventually(() => expect(sent.response).toMatch(connection));
  });

  it('counts with its decoded body while that waits for its turn, and until its response is sent', async () => {
    const { promise: turn, resolve } = Promise.withResolvers<void>();
    const blockingWork = { run: async <Result>(_network: string, work: () => Result) => turn.then(work) };
    const requests: IncomingMessage[] = [];
    await start((request) => {
      void readJsonObject(request, { clientIp, blockingWork }).then(() => requests.push(request));
    });
    const body = gzipSync(JSON.stringify({ text: ' '.repeat(500_000) }));
    const encoded = ['Content-Type: application/json', 'Content-Encoding: gzip', `Content-Length: ${body.length}`];
    await openRaw(url, Buffer.concat([Buffer.from(rawRequest('POST /', encoded)), body]));
    const isHeld = () => expect([...held].map(({ bytes }) => bytes > 480_000)).toEqual([true]);
    await eventually(isHeld);
    resolve();
    await eventually(() => expect(requests).toHaveLength(1));
    isHeld();
    for (const request of requests) asClientRequest(request).release();
    expect(held.size).toBe(0);
  });

  it('no longer counts once its body is passed on as a stream', async () => {
    const requests: IncomingMessage[] = [];
    await start((request) => void requests.push(request));
    await openRaw(url, rawRequest('PUT /', ['X-Network: n', 'Content-Length: 90000']) + 'x'.repeat(30_000));
    await eventually(() => expect(held.size).toBe(1));
    for (const request of requests) asClientRequest(request).passOn();
    expect(held.size).toBe(0);
  });

  it('is evicted for another network while its body waits for its turn, the oldest first', async () => {
    const turns: (() => void)[] = [];
    const run = <Result>(_network: string, work: () => Result, signal?: AbortSignal) =>
      new Promise<Result>((resolve, reject) => {
        turns.push(() => void Promise.resolve().then(work).then(resolve, reject));
        signal?.addEventListener('abort', () => reject(new Error('given up')));
      });
    await start((request, response) => {
      readJsonObject(request, { clientIp, blockingWork: { run } }).then(
        () => response.end('read'),
        (error: Error) => response.writeHead(503).end(error.message),
      );
    });
    const body = JSON.stringify({ text: 'x'.repeat(MIB - 100) });
    const post = (network: string) =>
      openRaw(url, rawRequest('POST /', [`X-Network: ${network}`, 'Content-Type: application/json'], body));
    const sent: RawSocket[] = [];
    for (let count = 1; count <= 32; count++) {
      sent.push(await post('many'));
      await eventually(() => expect(turns).toHaveLength(count));
    }
    const other = await post('one');
    await eventually(() => expect(turns).toHaveLength(33));
    await eventually(() => expect(sent[0]?.response).toContain(' 503 '));
    turns.at(-1)?.();
    await eventually(() => expect(other.response).toMatch(/read$/));
    expect(sent[31]?.response).toBe('');
  });
});

it('a message of a socket may have 16 KiB while memory is short', () => {
  const memory: Memory = { ...createMemory({ maxBytes: MIB, metrics: new Registry(), log: LOG }), isShort: () => true };
  const isHeld = (sizeBytes: number) => holdMessage(memory, sizeBytes, '192.0.2.1') !== undefined;
  expect([isHeld(16 * 1024), isHeld(16 * 1024 + 1)]).toEqual([true, false]);
});

it('a text counts together with its parsed objects', () => {
  const ordinary = JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
  expect(memoryOf(Buffer.from(ordinary))).toBeLessThan(1_024);
  const empties = JSON.stringify({ variables: { x: Array.from({ length: 1_300 }, () => []) } });
  expect(memoryOf(Buffer.from(empties))).toBeGreaterThan(30 * empties.length);
});
