import type { GraphQLError } from 'graphql';
import type { Protocol } from '../../realtime-metrics.ts';

/** How one protocol writes a stream of results into an HTTP response. */
export interface StreamFormat {
  protocol: Extract<Protocol, 'sse' | 'multipart'>;
  contentType: string;
  /** Sent first, so that clients know that the stream is open. */
  opening: string;
  /** Keeps the connection alive; carries no data. */
  heartbeat: string;
  /** Reports a position in the feed without a result, if the protocol can. */
  position?(cursor: string): string;
  /** `json` is `{"data": …}`, `cursor` the position after it. */
  next(json: string, cursor: string): string;
  /** The normal end, after which clients do not reconnect. */
  ending: string;
  /** A failure of the whole stream, including its end. */
  failure(errors: GraphQLError[]): string;
}

/** GraphQL over server-sent events, distinct connections: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md */
export const sse: StreamFormat = {
  protocol: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  opening: ':\n\n',
  heartbeat: ':\n\n',
  // An EventSource remembers an id without data, and sends it as Last-Event-ID when it reconnects, but fires no event.
  position: (cursor) => `id: ${cursor}\n\n`,
  next: (json, cursor) => `event: next\n${cursor === '' ? '' : `id: ${cursor}\n`}data: ${json}\n\n`,
  ending: 'event: complete\ndata:\n\n',
  failure: (errors) => `event: next\ndata: ${JSON.stringify({ errors })}\n\nevent: complete\ndata:\n\n`,
};

const DELIMITER = '\r\n--graphql';

/** Readers consider a part complete only once they see the next delimiter, so each part ends with one. */
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${DELIMITER}`;

/** Apollo's multipart protocol: https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol */
export const multipart: StreamFormat = {
  protocol: 'multipart',
  contentType: 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  opening: `${DELIMITER}${part('{}')}`,
  heartbeat: part('{}'),
  next: (json) => part(`{"payload":${json}}`),
  ending: '--\r\n',
  failure: (errors) => `${part(JSON.stringify({ payload: null, errors }))}--\r\n`,
};

/** Writes an event as a chunk of an HTTP/1.1 response. */
export type EventChunkOf = (json: string, cursor: string) => Buffer;

/** Equal streams get an event in quick succession, so the last chunk is kept and shared by all of them. */
export function createEventChunks({ next }: Pick<StreamFormat, 'next'>): EventChunkOf {
  let last: { json: string; cursor: string; chunk: Buffer } | undefined;
  return (json, cursor) => {
    if (last?.json !== json || last.cursor !== cursor) last = { json, cursor, chunk: chunkOf(next(json, cursor)) };
    return last.chunk;
  };
}

/** https://www.rfc-editor.org/rfc/rfc9112#section-7.1 */
function chunkOf(text: string): Buffer {
  return Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
}
