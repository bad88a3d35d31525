import { createLog } from '@taskmesh/service';
import { atEnd, eventually, listen } from '@taskmesh/testing';
import { openRaw, rawRequest } from '@taskmesh/testing/raw';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
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
    const server = createServer({ IncomingMessage }, (_request, response) => answer(response));
    serveSequentially(server);
    memory.watch(trackUnreadResponses(server, () => '192.0.2.1'));
    await memory.start();
    atEnd(() => memory.stop());
    ({ url } = await listen(server));
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
