import { badUserInput, toGraphQLError } from '@taskmesh/contracts';
import Negotiator from 'negotiator';
import { InvalidOperation } from '../supergraph/executor.ts';
import { jsonWeightIn, weightIn } from '../http/accept.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const JSON_TYPES = [JSON_TYPE, 'application/graphql-response+json; charset=utf-8'];
const SSE_TYPE = 'text/event-stream; charset=utf-8';
const SSE_RANGE = /^\s*text\/event-stream\b/i;
const MULTIPART_RANGE = /^\s*multipart\/mixed\s*;(?:.*;)?\s*subscriptionspec\s*=\s*"?1\.0"?\s*(?:;|$)/i;
const QUALITY = /;\s*q\s*=[^;]*/i;

export type StreamProtocol = 'sse' | 'multipart';

/** The types in which a client accepts a response. Without `json`, it wants everything as a stream. */
export type ResponseTypes =
  { json: string; stream?: StreamProtocol | undefined } | { json?: undefined; stream: StreamProtocol };

/**
 * Chooses the type of a response to `/graphql` from its `Accept`, before anything runs: nothing may refuse the type
 * afterwards. Streams have to be accepted by name.
 * @throws InvalidOperation (406) for a client that accepts no type that we have
 */
export function chooseResponseTypes(accept: string | undefined, { canStream }: { canStream: boolean }): ResponseTypes {
  if (!accept) return { json: JSON_TYPE };
  const negotiator = new Negotiator({ headers: { accept } });
  const json = negotiator.mediaType(JSON_TYPES);
  const stream = canStream ? streamIn(accept, negotiator) : undefined;
  if (stream && (json === undefined || weightIn(accept, isStream) > jsonWeightIn(accept))) return { stream };
  if (json === undefined) throw notAcceptable();
  return { json, stream };
}

function streamIn(accept: string, negotiator: Negotiator): StreamProtocol | undefined {
  const ranges = accept.split(',');
  if (ranges.some((range) => SSE_RANGE.test(range)) && negotiator.mediaType([SSE_TYPE])) return 'sse';
  const multipart = ranges.find((range) => MULTIPART_RANGE.test(range));
  // Its other parameters, such as a boundary, are accepted as the client wrote them.
  return multipart && negotiator.mediaType([multipart.replace(QUALITY, '')]) ? 'multipart' : undefined;
}

const isStream = (range: string) => SSE_RANGE.test(range) || MULTIPART_RANGE.test(range);

export function notAcceptable(): InvalidOperation {
  const message = `Accept must allow one of ${[...JSON_TYPES, SSE_TYPE].join(', ')}, multipart/mixed;subscriptionSpec=1.0.`;
  return new InvalidOperation('BAD_USER_INPUT', [toGraphQLError(badUserInput([{ path: '', message }]))], 406);
}
