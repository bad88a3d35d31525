import { connectChannel } from './channel.ts';
import { connectGraphqlWs } from './graphql-ws.ts';
import { connectMultipart, connectSse } from './http.ts';
import type { StreamOptions } from './stream.ts';

/** Every way to read the feed. */
export const PROTOCOLS: Pick<StreamOptions, 'protocol' | 'connect' | 'repeatsBehindCursor'>[] = [
  { protocol: 'graphql-ws', connect: connectGraphqlWs },
  { protocol: 'sse', connect: connectSse },
  { protocol: 'multipart', connect: connectMultipart },
  { protocol: 'channel 1.0.0', connect: connectChannel('1.0.0'), repeatsBehindCursor: true },
  { protocol: 'channel 2.0.0', connect: connectChannel('2.0.0'), repeatsBehindCursor: true },
];
