import { RealtimeClient } from '@supabase/realtime-js';
import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Example {
  url: string;
  stop(): Promise<void>;
  commit(user: string, kind: string, record: object, oldRecord?: object): void;
}

/** The first example of the README, in a folder where its imports resolve. */
async function runExample(): Promise<Example> {
  const [, code = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')) ?? [];
  const dir = join(import.meta.dirname, '../../../node_modules/.cache', `realtime-protocol-${process.pid}`);
  const file = join(dir, 'example.mjs');
  mkdirSync(dir, { recursive: true });
  writeFileSync(file, code);
  try {
    return (await import(pathToFileURL(file).href)) as Example; // what it exports
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe('the example in the README', () => {
  let example: Example;
  const clients: RealtimeClient[] = [];

  const connect = (user: string) => {
    const client = new RealtimeClient(`${example.url}/realtime/v1`.replace('http', 'ws'), {
      params: { apikey: 'any-public-key' },
      accessToken: async () => `token-of-${user}`,
    });
    clients.push(client);
    return client;
  };
  const listen = async (user: string) => {
    const events: object[] = [];
    const channel = connect(user).channel('notes');
    channel.on(
      'postgres_changes',
      { event: '*', schema: 'public', table: 'notes', filter: 'text=ilike.%milk%' },
      ({ eventType, new: record, old }) => void events.push({ eventType, record, old }),
    );
    const isReady = Promise.withResolvers<void>();
    // The official client counts as subscribed once the server has confirmed it.
    channel.subscribe((status) => (status === 'SUBSCRIBED' ? isReady.resolve() : undefined));
    await isReady.promise;
    return events;
  };

  beforeAll(async () => (example = await runExample()));
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.disconnect())));
  afterAll(() => example.stop());

  it('serves the official client with its user’s changes that match its filter', async () => {
    const [ada, bob] = await Promise.all([listen('ada'), listen('bob')]);
    example.commit('ada', 'INSERT', { id: 1, text: 'Buy milk' });
    example.commit('ada', 'INSERT', { id: 2, text: 'Water the plants' });
    example.commit('bob', 'INSERT', { id: 3, text: 'Milk the cow' });
    example.commit('ada', 'UPDATE', { id: 1, text: 'Bought' }, { id: 1, text: 'Buy milk' });
    example.commit('ada', 'DELETE', { id: 1, text: 'milk' }, { id: 1, text: 'milk' });
    const ofAda = [
      { eventType: 'INSERT', record: { id: 1, text: 'Buy milk' }, old: {} },
      { eventType: 'UPDATE', record: { id: 1, text: 'Bought' }, old: { id: 1, text: 'Buy milk' } },
      { eventType: 'DELETE', record: {}, old: { id: 1, text: 'milk' } },
    ];
    const ofBob = [{ eventType: 'INSERT', record: { id: 3, text: 'Milk the cow' }, old: {} }];
    await eventually(() => expect([ada, bob]).toEqual([ofAda, ofBob]));
  });

  it('survives clients that violate the WebSocket protocol, and paths that are not URLs', async () => {
    const { port } = new URL(example.url);
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const send = async (path: string, ...frames: number[]) => {
      const socket = createConnection(Number(port), '127.0.0.1').on('error', () => {});
      const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
      socket.write([`GET ${path} HTTP/1.1`, 'Host: localhost', ...upgrade, key, '', ''].join('\r\n'));
      socket.on('data', () => socket.write(Buffer.from(frames)));
      await once(socket, 'close');
    };
    await send('//');
    await send('/realtime/v1/websocket?apikey=any&vsn=1.0.0', 0x81, 0x01, 0x61); // not masked
    expect(await listen('ada')).toEqual([]);
  });

  it('sends its clients away when it stops', async () => {
    const socket = new WebSocket(`${example.url}/realtime/v1/websocket?apikey=any&vsn=1.0.0`.replace('http', 'ws'));
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await example.stop();
    expect(await closed).toMatchObject([{ code: 1012, reason: 'Service restart' }]);
  });
});
