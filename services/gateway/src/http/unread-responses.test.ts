import { createLog } from '@taskmesh/service';
import { atEnd, collectGarbage, eventually, listen } from '@taskmesh/testing';
import { openRaw, rawRequest } from '@taskmesh/testing/raw';
import { Agent, createServer, get, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { Registry } from 'prom-client';
import { serveSequentially } from './client-connections.ts';
import { asClientRequest, clientRequests } from './client-request.ts';
import { createMemory } from './memory.ts';
import { excludeFromUnread, trackUnreadResponses } from './unread-responses.ts';

const SIZE = 16 * 1024 * 1024;

describe('unread responses', () => {
  let url: string;
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    const log = createLog({ service: 'test', level: 'silent' });
    const memory = createMemory({ maxBytes: 5.5 * SIZE, metrics: new Registry(), log });
    const IncomingMessage = clientRequests({ memory, clientIp: () => '192.0.2.1' });
    // The client of a server that closes an idle connection on a busy machine could use it just then.
    const server = createServer({ IncomingMessage, keepAliveTimeout: 0 }, (_request, response) => answer(response));
    serveSequentially(server);
    memory.watch(trackUnreadResponses(server, () => '192.0.2.1'));
    await memory.start();
    atEnd(() => memory.stop());
    ({ url } = await listen(server));
  });

  it('do not keep sent ones until the next major collection', async () => {
    answer = (response) => void response.end('');
    const oldBytes = () =>
      getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    const request = () =>
      new Promise((resolve, reject) =>
        get(url, { agent }, (response) => response.resume().once('close', resolve)).once('error', reject),
      );
    const some = async (rounds: number) => {
      for (let round = 0; round < rounds; round++) {
        await Promise.all(Array.from({ length: 40 }, request));
        collectGarbage('minor');
      }
    };
    await some(20);
    collectGarbage();
    const before = oldBytes();
    await some(50);
    expect((oldBytes() - before) / (50 * 40)).toBeLessThan(1_000); // 2,100 when a set held the responses
    agent.destroy();
  });

  it('are cut off for one account with many before another with one', async () => {
    const served: ServerResponse[] = [];
    const leaveUnread = async (account: string, bytes: number) => {
      answer = (response) => {
        asClientRequest(response.req).account = account;
        served.push(response.end(Buffer.alloc(bytes)));
      };
      const count = served.length;
      (await openRaw(url, rawRequest('GET /'))).pause();
      await eventually(() => expect(served).toHaveLength(count + 1));
    };
    await leaveUnread('ada', SIZE);
    for (let count = 0; count < 20; count++) await leaveUnread('bob', SIZE / 2);
    await eventually(() => expect(served.filter(({ destroyed }) => destroyed).length).toBeGreaterThan(2));
    expect(served[0]?.destroyed).toBe(false);
  });

  it('do not include bytes that all clients share', async () => {
    const shared = Buffer.alloc(SIZE);
    const served: ServerResponse[] = [];
    answer = (response) => {
      excludeFromUnread(response);
      served.push(response.end(shared));
    };
    for (let count = 0; count < 8; count++) (await openRaw(url, rawRequest('GET /'))).pause();
    await eventually(() => expect(served).toHaveLength(8));
    await sleep(250); // until they have been looked at twice
    expect(served.filter(({ destroyed }) => destroyed)).toEqual([]);
  });
});
