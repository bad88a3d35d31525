import { openFeedLoad, type FeedLoad, type FeedLoadOptions, type StretchOrder } from '../feed/load.ts';
import { openGatewayConnections, type GatewayLoadOptions } from '../gateway/load.ts';
import { serveCalls } from '../machine/child.ts';
import { listBesideLogins } from './beside-logins.ts';
import type { Operation, Protocol } from './calls.ts';
import { openConnections, populate, type Population } from './connections.ts';

// Runs in its own process, so that the cost of sending requests and reading messages does not count as the server's.
const servers = new Map<string, Population>();
let connections: Awaited<ReturnType<typeof openConnections>> | undefined;
let feed: FeedLoad | undefined;

const calls = {
  async populate(url: string, count: number) {
    servers.set(url, await populate(url, count));
  },
  /** Opens connections to a server that was populated. */
  async open(url: string, operation: Operation, protocol: Protocol) {
    connections = await openConnections(url, operation, protocol, known(servers.get(url)));
  },
  async openGateway(options: GatewayLoadOptions) {
    connections = await openGatewayConnections(options);
  },
  run: async (seconds: number) => known(connections).run(seconds),
  async close() {
    await connections?.close();
    connections = undefined;
  },
  listBesideLogins: async (url: string, seconds: number) => listBesideLogins(url, known(servers.get(url)), seconds),

  /** Opens sockets, to which `runFeed` then has changes delivered. */
  async openFeed(options: FeedLoadOptions) {
    feed = await openFeedLoad(options);
  },
  runFeed: async (order: StretchOrder) => known(feed).run(order),
  async closeFeed() {
    await feed?.close();
    feed = undefined;
  },
};
export type LoadCalls = typeof calls;
serveCalls(calls);

function known<Opened>(opened: Opened | undefined): Opened {
  if (opened === undefined) throw new Error('Nothing was opened.');
  return opened;
}
