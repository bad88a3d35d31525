import { collectGarbage, eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { Server, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { useGateway } from './fakes/gateway.ts';
import { streamChannel, streamGraphqlWs, type TestStream } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

/** Collects the requests of all such events from now on. */
function watchRequests(event: 'request' | 'upgrade') {
  const requests: WeakRef<IncomingMessage>[] = [];
  const { emit } = Server.prototype;
  Server.prototype.emit = function (this: Server, name: string, ...args: unknown[]) {
    if (name === event) requests.push(new WeakRef(args[0] as IncomingMessage));
    return Reflect.apply(emit, this, [name, ...args]) as boolean;
  };
  return { requests, stop: () => void (Server.prototype.emit = emit) };
}

const gateway = useGateway();

it('an idle connection does not keep its last request', async () => {
  const { requests, stop } = watchRequests('request');
  const socket = connect(Number(new URL(gateway.origin).port), '127.0.0.1');
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  stop();
  expect(requests).toHaveLength(1);
  await eventually(() => {
    collectGarbage();
    expect(requests[0]?.deref()).toBeUndefined();
  });
  expect(socket.readyState).toBe('open');
  socket.destroy();
});

describe('an open socket', () => {
  let upgrades: ReturnType<typeof watchRequests>;
  let stream: TestStream | undefined;

  beforeEach(() => {
    upgrades = watchRequests('upgrade');
  });
  afterEach(() => {
    upgrades.stop();
    stream?.close();
  });

  it.each([
    { protocol: 'graphql-ws', open: streamGraphqlWs },
    { protocol: 'channel', open: streamChannel },
  ])('does not keep the request that opened it: $protocol', async ({ open }) => {
    const query = 'subscription { taskChanges { sequence } }';
    stream = await open({ origin: gateway.origin, token: await gateway.auth.token(USER), query });
    expect(upgrades.requests).toHaveLength(1);
    await eventually(() => {
      collectGarbage();
      expect(upgrades.requests[0]?.deref()).toBeUndefined();
    });
  });
});
