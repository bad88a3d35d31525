import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Registry } from 'prom-client';
import { serveSequentially } from './client-connections.ts';
import { asClientRequest, clientRequests } from './client-request.ts';
import { readJsonObject } from './json-body.ts';
import { createMemory, type Holding, type Memory } from './memory.ts';

const MIB = 1024 * 1024;

describe('a request', () => {
  let server: Server;
  let open: Socket[];
  let held: Set<Holding>;
  let isShort: boolean;
  const clientIp = ({ headers }: IncomingMessage) => String(headers['x-network']);

  const start = async (handle: (request: IncomingMessage, response: ServerResponse) => void) => {
    const log = createLog({ service: 'test', level: 'silent' });
    const memory = createMemory({ maxBytes: 128 * MIB, metrics: new Registry(), log });
    const hold: Memory['hold'] = (request, bytes) => {
      if (bytes > 0) held.add(request);
      else held.delete(request);
      return memory.hold(request, bytes);
    };
    server = createServer(
      { IncomingMessage: clientRequests({ memory: { ...memory, hold, isShort: () => isShort }, clientIp }) },
      handle,
    );
    serveSequentially(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  };
  beforeEach(() => {
    open = [];
    held = new Set();
    isShort = false;
  });
  afterEach(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const send = (text: string) => {
    const sent = { socket: connect((server.address() as AddressInfo).port, '127.0.0.1'), answer: '' };
    sent.socket.on('data', (bytes) => (sent.answer += bytes.toString())).on('error', () => undefined);
    sent.socket.write(text);
    open.push(sent.socket);
    return sent;
  };

  it('counts with its headers while it waits for the previous response', async () => {
    await start(() => undefined);
    const get = `GET / HTTP/1.1\r\nHost: x\r\nX-Network: n\r\nX-Long: ${'x'.repeat(10_000)}\r\n\r\n`;
    const { socket } = send(get.repeat(4));
    await eventually(() => expect(held.size).toBe(3));
    for (const { bytes, network } of held) expect([bytes > 14_000, bytes < 15_000, network]).toEqual([true, true, 'n']);
    socket.destroy();
    await eventually(() => expect(held.size).toBe(0));
  });

  it('may wait for the previous response even while memory is short, if it is small', async () => {
    isShort = true;
    const answers: ServerResponse[] = [];
    await start((_request, response) => void answers.push(response));
    const sent = send('GET / HTTP/1.1\r\nHost: x\r\nX-Network: n\r\n\r\n'.repeat(2));
    await eventually(() => expect(held.size).toBe(1));
    answers[0]?.end('one');
    await eventually(() => expect(answers).toHaveLength(2));
    answers[1]?.end('two');
    await eventually(() => expect(sent.answer).toMatch(/one[^]*two/));
  });

  it('keeps nothing of its body after parsing, because a stream may run for hours', async () => {
    const kept: unknown[] = [];
    const now = { run: async <Result>(_network: string, work: () => Result) => work() };
    await start((request, response) => {
      void readJsonObject(request, { clientIp, blockingWork: now }).then(() => {
        kept.push(asClientRequest(request).onRefused);
        response.end('read');
      });
    });
    send('POST / HTTP/1.1\r\nHost: x\r\nX-Network: n\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}');
    await eventually(() => expect(kept).toEqual([undefined]));
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
    const post = (network: string) => {
      const head = ['POST / HTTP/1.1', 'Host: x', `X-Network: ${network}`, 'Content-Type: application/json'];
      return send(`${head.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    };
    const sent: ReturnType<typeof post>[] = [];
    for (let count = 1; count <= 32; count++) {
      sent.push(post('many'));
      await eventually(() => expect(turns).toHaveLength(count));
    }
    const other = post('one');
    await eventually(() => expect(turns).toHaveLength(33));
    await eventually(() => expect(sent[0]?.answer).toContain(' 503 '));
    turns.at(-1)?.();
    await eventually(() => expect(other.answer).toMatch(/read$/));
    expect(sent[31]?.answer).toBe('');
  });
});
