import { openFeedLoad, type FeedLoad, type FeedLoadOptions, type StretchOptions } from '../feed/load.ts';
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
    connections = await openConnections(url, operation, protocol, opened(servers.get(url)));
  },
  async openGateway(options: GatewayLoadOptions) {
    connections = await openGatewayConnections(options);
  },
  run: async (seconds: number) => opened(connections).run(seconds),
  async close() {
    await connections?.close();
    connections = undefined;
  },
  listBesideLogins: async (url: string, seconds: number) => listBesideLogins(url, opened(servers.get(url)), seconds),

  /** Opens sockets, to which `runFeed` then has changes delivered. */
  async openFeed(options: FeedLoadOptions) {
    feed = await openFeedLoad(options);
  },
  runFeed: async (options: StretchOptions) => opened(feed).run(options),
  async closeFeed() {
    await feed?.close();
    feed = undefined;
  },
};
export type LoadCalls = typeof calls;
serveCalls(calls);

function opened<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('Nothing was opened.');
  return value;
}
