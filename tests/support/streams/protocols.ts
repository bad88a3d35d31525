import { connectChannel } from './channel.ts';
import { CHANGES, CHANGES_WITH_NAMES } from './graphql-change.ts';
import { connectGraphqlWs } from './graphql-ws.ts';
import { connectMultipart, connectSse } from './http.ts';
import type { StreamOptions } from './stream.ts';

export type Protocol = Pick<StreamOptions, 'protocol' | 'connect' | 'repeatsBehindCursor'>;

const MULTIPART: Protocol = { protocol: 'multipart', connect: connectMultipart(CHANGES_WITH_NAMES) };

/** Every way to read the feed. */
export const PROTOCOLS: Protocol[] = [
  { protocol: 'graphql-ws', connect: connectGraphqlWs(CHANGES) },
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
