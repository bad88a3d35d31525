import { toAppError, toGraphQLError, type AppError } from '@taskmesh/contracts';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import { GraphQLError } from 'graphql';
import type { IncomingMessage } from 'node:http';
import { callerOf, type GatewayContext } from '../context.ts';
import { internalError, publicError } from '../supergraph/client-errors.ts';
import { InvalidOperation } from '../supergraph/executor.ts';
import { encodeText, gzipFor, isCompressible } from '../http/compress.ts';
import { JSON_TYPE } from '../http/errors.ts';
import { isSubscription, type AdmittedOperation } from './admission.ts';
import type { GraphQLServer, HttpOperation } from './apollo-server.ts';
import type { UncheckedRequest } from './graphql-request.ts';
import { readRequest } from './read-request.ts';

/** A request to `/graphql`, under the id that its answer tells. */
export interface GraphQLRequest {
  raw: IncomingMessage;
  id: string;
}

export interface HttpAnswer {
  status: number;
  headers: Iterable<[string, string]>;
  /** JSON; bytes when it is large or compressed. */
  body: string | Buffer;
}

/** What was refused need not parse. */
const SUBSCRIPTION = /^\s*subscription\b/;
const NO_STORE: [string, string] = ['cache-control', 'no-store'];

export interface GraphQLHandler {
  /**
   * Answers in this JSON type. Rejects with what keeps the request from being read or let in at all, which `failed`
   * answers.
   */
  answer(request: GraphQLRequest, type: string): Promise<HttpAnswer>;
  /** For clients that accept streams, too: subscriptions are left to those, and refused ones rejected. */
  answerUnlessSubscription(request: GraphQLRequest, type: string): Promise<HttpAnswer | AdmittedOperation>;
  failed(error: unknown, request: Pick<GraphQLRequest, 'id'>): HttpAnswer;
}

/** Reads GraphQL requests, and has Apollo Server answer them. */
export function createGraphQLHandler(
  context: Pick<GatewayContext, 'admission' | 'authenticate' | 'clientIp' | 'log' | 'operators' | 'requestCall'>,
  server: GraphQLServer,
): GraphQLHandler {
  const { admission } = context;

  const checked = (sent: UncheckedRequest) => {
    try {
      return admission.read(sent);
    } catch (error) {
      return invalidOperation(error);
    }
  };

  const sentBy = ({ raw }: GraphQLRequest) => readRequest(raw, context.clientIp(raw));

  const read = async (request: GraphQLRequest, sent: UncheckedRequest, type: string, canStream = false) => {
    const { raw } = request;
    const caller = context.requestCall(request, await identityOf(context, raw));
    const arrival = { isGet: raw.method !== 'POST', canStream, caller };
    const operation: HttpOperation = { request: checked(sent), arrival, type };
    return operation;
  };

  const send = async ({ raw }: GraphQLRequest, operation: HttpOperation): Promise<HttpAnswer> => {
    const { status, headers: own, body: text } = await server.answer(operation);
    const headers = [...own, NO_STORE];
    const body = await encodeText(text);
    if (!isCompressible(body) || !isQuery(operation)) return { status, headers, body };
    headers.push(['vary', 'Accept-Encoding']);
    const compressed = await gzipFor(raw.headers['accept-encoding'], body);
    if (!compressed) return { status, headers, body };
    return { status, headers: [...headers, ['content-encoding', 'gzip']], body: compressed };
  };

  return {
    async answer(request, type) {
      return send(request, await read(request, await sentBy(request), type));
    },

    async answerUnlessSubscription(request, type) {
      const sent = await sentBy(request);
      const operation = await read(request, sent, type, true);
      const { request: asked, arrival } = operation;
      const outcome =
        asked instanceof InvalidOperation ? asked : await admission.admit(asked, arrival).catch(invalidOperation);
      if (outcome instanceof InvalidOperation) {
        if (SUBSCRIPTION.test(String(sent.query))) throw outcome;
      } else if (isSubscription(outcome)) return outcome;
      return send(request, { ...operation, outcome });
    },

    failed(error, { id }) {
      const { status, errors, retryAfterSeconds } = toFormatted(error, id);
      if (status >= 500 && status !== 503) context.log.error({ err: error, requestId: id }, 'request failed');
      const headers: [string, string][] = [];
      if (status === 405) headers.push(['allow', 'POST']);
      if (status === 503 || status === 429) headers.push(['retry-after', String(retryAfterSeconds ?? 1)]);
      headers.push(['content-type', JSON_TYPE], NO_STORE);
      return { status, headers, body: JSON.stringify({ errors }) };
    },
  };
}

/** Results of mutations may hold tokens, whose length compression would reveal beside what a client sent. */
const isQuery = ({ outcome }: HttpOperation) =>
  outcome && !(outcome instanceof InvalidOperation) && outcome.operation.operation.operation === 'query';

function invalidOperation(error: unknown): InvalidOperation {
  if (error instanceof InvalidOperation) return error;
  throw error;
}

/** An invalid token counts as none, so that `login` and `refreshSession` work with it; fields that need a user say so. */
async function identityOf(
  context: Pick<GatewayContext, 'authenticate' | 'clientIp' | 'operators'>,
  request: IncomingMessage,
): Promise<Identity> {
  if (await context.operators.isOperator(request)) return { role: 'operator' };
  const caller = await callerOf(context, request);
  return caller.kind === 'user' ? caller.identity : ANONYMOUS;
}

function toFormatted(error: unknown, requestId: string) {
  const told = (each: GraphQLError) => publicError(each.toJSON()) ?? internalError(requestId);
  if (error instanceof InvalidOperation)
    return { status: error.httpStatus ?? 400, errors: error.errors.map((each) => each.toJSON()) };
  if (error instanceof GraphQLError) {
    const { status = 400 } = (error.extensions.http ?? {}) as { status?: number };
    return { status, errors: [told(error)] };
  }
  const known: AppError = toAppError(error);
  return {
    status: known.httpStatus,
    errors: [told(toGraphQLError(known))],
    retryAfterSeconds: known.retryAfterSeconds,
  };
}
