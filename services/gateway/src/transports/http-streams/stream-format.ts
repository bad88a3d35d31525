import type { GraphQLError } from 'graphql';
import type { Protocol } from '../../subscriptions/metrics.ts';

/** How one protocol writes a stream of results into an HTTP response. */
export interface StreamFormat {
  protocol: Extract<Protocol, 'sse' | 'multipart'>;
  contentType: string;
  /** Sent first, so that clients know that the stream is open. */
  opening: string;
  /** Keeps the connection alive; carries no data. */
  heartbeat: string;
  /** Reports a position in the feed without a result, if the protocol has a way to. */
  position?(cursor: string): string;
  /** `json` is `{"data": …}`, `cursor` the position after it. */
  next(json: string, cursor: string): string;
  /** The regular end, after which clients do not reconnect. */
  ending: string;
  /** A failure of the whole stream, including its end. */
  failure(errors: GraphQLError[]): string;
}
