import { collectGarbage, eventually } from '@taskmesh/testing';
import { Server, type IncomingMessage } from 'node:http';
import { useGateway, USER } from './fakes/gateway.ts';
import { openRaw, rawRequest, statusOf } from '@taskmesh/testing/raw';
import { streamChannel, streamGraphqlWs } from './fakes/streams.ts';

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
  const socket = await openRaw(gateway.origin, rawRequest('GET /livez'));
  expect(await statusOf(socket)).toBe(200);
  stop();
  expect(requests).toHaveLength(1);
  await eventually(() => {
    collectGarbage();
    expect(requests[0]?.deref()).toBeUndefined();
  });
  expect(socket.readyState).toBe('open');
});

describe('an open socket', () => {
  let upgrades: ReturnType<typeof watchRequests>;

  beforeEach(() => {
    upgrades = watchRequests('upgrade');
  });
  afterEach(() => {
    upgrades.stop();
  });

  it.each([
    { protocol: 'graphql-ws', open: streamGraphqlWs },
    { protocol: 'channel', open: streamChannel },
  ])('does not keep the request that opened it: $protocol', async ({ open }) => {
    const query = 'subscription { taskChanges { sequence } }';
    await open({ origin: gateway.origin, token: await gateway.auth.token(USER), query });
    expect(upgrades.requests).toHaveLength(1);
    await eventually(() => {
      collectGarbage();
      expect(upgrades.requests[0]?.deref()).toBeUndefined();
    });
  });
});
