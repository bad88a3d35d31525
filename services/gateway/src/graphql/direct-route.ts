import { requestSpan, traceResponse } from '@taskmesh/service';
import { within } from '@taskmesh/telemetry';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayContext } from '../context.ts';
import { traceparentOf } from '../graph/request-call.ts';
import { headerValues } from '../header-values.ts';
import type { MeasureResponse } from '../http/metrics.ts';
import type { HttpAnswer } from './apollo-server.ts';
import type { GraphQLHandler } from './graphql-handler.ts';
import type { ChooseResponseTypes } from './response-types.ts';

const URL_PATH = '/graphql';
const ROUTE = { method: 'POST', routeOptions: { url: URL_PATH } };

export interface DirectRouteDeps {
  context: Pick<GatewayContext, 'tracing'>;
  handler: Pick<GraphQLHandler, 'answer' | 'failed'>;
  chooseTypes: ChooseResponseTypes;
  measure: MeasureResponse;
}

/** Answers what it takes; false for a request that it leaves to the framework. */
export type AnswerDirectly = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * Operations as clients usually send them, without a framework around them. The framework has what is in any way special: other
 * paths, methods, types and encodings, streams, pages of other origins. Both answer the same.
 */
export function createDirectRoute({ context, handler, chooseTypes, measure }: DirectRouteDeps): AnswerDirectly {
  /** Undefined for a client that accepts streams, or nothing that we have. */
  const jsonTypeOf = ({ headers: { accept } }: IncomingMessage): string | undefined => {
    try {
      const { json, stream } = chooseTypes(accept);
      return stream === undefined ? json : undefined;
    } catch {
      return undefined;
    }
  };

  const answer = async ({ request, response, type }: PlainRequest, id: string) => {
    let told: HttpAnswer;
    try {
      told = await handler.answer({ raw: request, id }, type);
    } catch (error) {
      told = handler.failed(error, { id });
    }
    write(response, told, ['x-request-id', id, 'vary', 'Origin']);
  };

  const begin = (plain: PlainRequest) => {
    const { request, response } = plain;
    const begunMs = performance.now();
    const id = randomUUID();
    response.once('finish', () => measure(ROUTE, response.statusCode, (performance.now() - begunMs) / 1_000));
    const span = context.tracing.begin(traceparentOf(request), () => requestSpan(ROUTE, id));
    if (!span) return answer(plain, id);
    traceResponse(span, response);
    return within(span, () => answer(plain, id));
  };

  return (request, response) => {
    const type = isPlain(request) ? jsonTypeOf(request) : undefined;
    if (type === undefined) return false;
    void begin({ request, response, type });
    return true;
  };
}

interface PlainRequest {
  request: IncomingMessage;
  response: ServerResponse;
  /** Of the answer. */
  type: string;
}

function isPlain(request: IncomingMessage): boolean {
  const { method, url, headers } = request;
  return (
    method === 'POST' &&
    url === URL_PATH &&
    headers['content-type'] === 'application/json' &&
    headers['content-encoding'] === undefined &&
    headers['transfer-encoding'] === undefined &&
    headers.expect === undefined &&
    headers.upgrade === undefined &&
    headers.origin === undefined &&
    headerValues(request, 'host').length === 1
  );
}

function write(response: ServerResponse, { status, headers, body }: HttpAnswer, first: readonly string[]): void {
  const bytes = Buffer.byteLength(body);
  const all = [...first];
  for (const [name, value] of headers) all.push(name, value);
  all.push('content-length', String(bytes));
  response.writeHead(status, all);
  // Written faster, and the same, where each character is one byte.
  response.end(body, bytes === body.length ? 'latin1' : 'utf8');
}
