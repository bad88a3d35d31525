import { collectGarbage, eventually } from '@taskmesh/testing';
import { Server, type IncomingMessage } from 'node:http';
import { useGateway } from './fakes/gateway.ts';
import { streamChannel, streamGraphqlWs, type TestStream } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';

/** The requests of all upgrades from now on. */
function watchUpgrades() {
  const requests: WeakRef<IncomingMessage>[] = [];
  const { emit } = Server.prototype;
  Server.prototype.emit = function (this: Server, name: string, ...args: unknown[]) {
    if (name === 'upgrade') requests.push(new WeakRef(args[0] as IncomingMessage));
    return Reflect.apply(emit, this, [name, ...args]) as boolean;
  };
  return { requests, stop: () => void (Server.prototype.emit = emit) };
}

describe('a socket that is open', () => {
  let upgrades: ReturnType<typeof watchUpgrades>;
  let stream: TestStream | undefined;

  const gateway = useGateway();
  beforeEach(() => {
    upgrades = watchUpgrades();
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
