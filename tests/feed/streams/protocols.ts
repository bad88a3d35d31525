import { connectChannel } from './channel.ts';
import { CHANGES, CHANGES_WITH_NAMES } from './graphql-change.ts';
import { connectGraphqlWs } from './graphql-ws.ts';
import { connectMultipart, connectSse } from './http.ts';
import { EMPTY_LIST, openStream, type Stream, type StreamOptions } from './stream.ts';

export type Protocol = Pick<StreamOptions, 'protocol' | 'connect' | 'repeatsBehindCursor'>;

const GRAPHQL_WS: Protocol = { protocol: 'graphql-ws', connect: connectGraphqlWs(CHANGES) };
const MULTIPART: Protocol = { protocol: 'multipart', connect: connectMultipart(CHANGES_WITH_NAMES) };

/** Every way to read the feed. */
export const PROTOCOLS: Protocol[] = [
  GRAPHQL_WS,
  { protocol: 'sse', connect: connectSse(CHANGES) },
  MULTIPART,
  { protocol: 'channel 1.0.0', connect: connectChannel('1.0.0'), repeatsBehindCursor: true },
  { protocol: 'channel 2.0.0', connect: connectChannel('2.0.0'), repeatsBehindCursor: true },
];

/** With a field of another service in every event. */
export const PROTOCOLS_WITH_NAMES: Protocol[] = [
  { protocol: 'graphql-ws, names', connect: connectGraphqlWs(CHANGES_WITH_NAMES) },
  { protocol: 'sse, names', connect: connectSse(CHANGES_WITH_NAMES) },
  MULTIPART,
];

/** Follows a feed over graphql-ws, from behind a cursor or from now on, at these gateways in turn. */
export const subscribe = (urls: string[], token: string, after = ''): Promise<Stream> =>
  openStream({ ...GRAPHQL_WS, urls, token, list: { ...EMPTY_LIST, cursor: after } });
