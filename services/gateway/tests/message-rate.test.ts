import { eventually } from '@taskmesh/testing';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { holdExecution } from './fakes/hold-execution.ts';
import { openWebSocket } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const MESSAGES_PER_S = 2;

describe('a graphql-ws socket that sends too much', () => {
  let gateway: TestGateway;
  let release: () => void;

  beforeAll(async () => {
    gateway = await startTestGateway({ env: { REALTIME_MAX_MESSAGES_PER_S: String(MESSAGES_PER_S) } });
    ({ release } = holdExecution(gateway.tasks));
  });
  afterAll(() => gateway.stop());

  it('is answered what it has asked for before the close, so that it need not ask twice, and nothing else', async () => {
    const socket = await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws');
    const received: string[] = [];
    let closed: number | undefined;
    socket.on('message', (bytes) => {
      const { id = '', type } = JSON.parse(String(bytes)) as { id?: string; type: string };
      received.push(`${id} ${type}`.trim());
    });
    socket.on('close', (code) => (closed = code));
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({ type: 'connection_init', payload: { authorization: `Bearer ${await gateway.auth.token(USER)}` } });
    await eventually(() => expect(received).toEqual(['connection_ack']));
    const query = 'mutation { createTask(input: { title: "once" }) { title } }';
    send({ id: 'first', type: 'subscribe', payload: { query } });
    // The first of these are within the rate, together with the message above; the others exceed it.
    for (let count = 0; count < 10 * MESSAGES_PER_S; count++) send({ type: 'ping' });
    send({ id: 'late', type: 'subscribe', payload: { query } });
    await eventually(() => expect(received).toHaveLength(1 + 10 * MESSAGES_PER_S - 2));
    // Longer than sockets wait that are closed for another reason.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(closed).toBeUndefined();
    release();
    await eventually(() => expect(closed).toBe(1013));
    expect(received.filter((message) => !/^(connection_ack|pong)$/.test(message))).toEqual([
      'first next',
      'first complete',
    ]);
    expect(gateway.tasks.calls).toHaveLength(1);
  });
});
