import { toAppError, toGraphQLError, type AppError } from '@taskmesh/errors';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import { GraphQLError } from 'graphql';
import type { IncomingMessage } from 'node:http';
import { callerOf, type GatewayContext } from '../context.ts';
import { internalError, publicError } from '../graph/client-errors.ts';
import { InvalidOperation } from '../graph/executor.ts';
import { JSON_TYPE } from '../http/errors.ts';
import type { Answers } from './answers.ts';
import { isSubscription, type AdmittedOperation, type Arrival } from './admission.ts';
import type { HttpAnswer, HttpOperation } from './apollo-server.ts';
import { readRequest } from './read-request.ts';

/** A request to `/graphql`, under the id that its answer tells. */
export interface GraphQLRequest {
  raw: IncomingMessage;
  id: string;
}

const NO_STORE: [string, string] = ['cache-control', 'no-store'];

export interface GraphQLHandler {
  /** Rejects with what keeps the request from being read or let in at all: `failed` tells that. */
  answer(request: GraphQLRequest): Promise<HttpAnswer>;
  /** For clients that accept streams as well: leaves subscriptions to them, and also rejects with what is not admitted. */
  answerUnlessSubscription(request: GraphQLRequest): Promise<HttpAnswer | AdmittedOperation>;
  failed(error: unknown, request: Pick<GraphQLRequest, 'id'>): HttpAnswer;
}

/** From a request to its answer, whatever serves HTTP around it. */
export function createGraphQLHandler(
  context: Pick<GatewayContext, 'admit' | 'authenticate' | 'clientIp' | 'log' | 'operators' | 'requestCall'>,
  answers: Answers,
): GraphQLHandler {
  const read = async (request: GraphQLRequest, { canStream }: Pick<Arrival, 'canStream'>) => {
    const { raw } = request;
    const sent = await readRequest(raw);
    const call = context.requestCall(request, await identityOf(context, raw));
    const admit = () => context.admit(sent, { isGet: raw.method !== 'POST', canStream, caller: call });
    return { call, accept: raw.headers.accept, admit };
  };

  const tell = async (operation: HttpOperation): Promise<HttpAnswer> => {
    const { status, headers, text } = await answers.answer(operation);
    return { status, headers: [...headers, NO_STORE], text };
  };

  return {
    async answer(request) {
      const { admit, ...arrived } = await read(request, { canStream: false });
      return tell({ ...arrived, outcome: await admit().catch(invalidOperation) });
    },

    async answerUnlessSubscription(request) {
      const { admit, ...arrived } = await read(request, { canStream: true });
      const admitted = await admit();
      return isSubscription(admitted) ? admitted : tell({ ...arrived, outcome: admitted });
    },

    failed(error, { id }) {
      const { status, errors, retryAfterSeconds } = toFormatted(error, id);
      if (status >= 500 && status !== 503) context.log.error({ err: error, requestId: id }, 'request failed');
      const headers: [string, string][] = [];
      if (status === 405) headers.push(['allow', 'POST']);
      if (status === 503 || status === 429) headers.push(['retry-after', String(retryAfterSeconds ?? 1)]);
      headers.push(['content-type', JSON_TYPE], NO_STORE);
      return { status, headers, text: JSON.stringify({ errors }) };
    },
  };
}

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
