import type { GraphQLError } from 'graphql';
import type { Protocol } from '../../subscriptions/metrics.ts';

/** How one protocol writes a stream of results into an HTTP response. */
export interface StreamFormat {
  protocol: Extract<Protocol, 'sse' | 'multipart'>;
  accepts(accept: string): boolean;
  contentType: string;
  /** Said first; then clients know that the stream stands. */
  opening: string;
  /** Says nothing, and keeps the connection. */
  heartbeat: string;
  /** The position behind which a stream begins, in a protocol that has a place for it; no result. */
  beginning?(cursor: string): string;
  /** One result. `json` is `{"data": …}`, `cursor` the position behind it. */
  next(json: string, cursor: string): string;
  /** The stream's proper end, after which the client does not come back. */
  ending: string;
  /** A failure of the whole stream, with its end. */
  failure(errors: GraphQLError[]): string;
}
