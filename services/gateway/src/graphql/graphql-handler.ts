import { toGraphQLError, type AppError } from '@taskmesh/errors';
import { ANONYMOUS, type Identity } from '@taskmesh/identity';
import { GraphQLError } from 'graphql';
import type { IncomingMessage } from 'node:http';
import { callerOf, type GatewayContext } from '../context.ts';
import { internalError, publicError } from '../graph/client-errors.ts';
import { InvalidOperation, type RequestCall } from '../graph/executor.ts';
import { JSON_TYPE, toAppError } from '../http/errors.ts';
import type { Answers } from './answers.ts';
import type { HttpAnswer } from './apollo-server.ts';
import { readRequest } from './read-request.ts';
import type { UncheckedRequest } from './graphql-request.ts';

/** A request to `/graphql`, under the id that its answer tells. */
export interface GraphQLRequest {
  raw: IncomingMessage;
  id: string;
}

const NO_STORE: [string, string] = ['cache-control', 'no-store'];

export interface GraphQLHandler {
  /** Rejects with what keeps the request from being read or let in at all: `failed` tells that. */
  answer(request: GraphQLRequest): Promise<HttpAnswer>;
  failed(error: unknown, request: Pick<GraphQLRequest, 'id'>): HttpAnswer;
}

/** From a request to its answer, whatever serves HTTP around it. */
export function createGraphQLHandler(
  context: Pick<GatewayContext, 'admit' | 'authenticate' | 'clientIp' | 'log' | 'operators' | 'requestCall'>,
  answers: Answers,
): GraphQLHandler {
  const tryToAdmit = async (sent: UncheckedRequest, { method }: IncomingMessage, caller: RequestCall) => {
    try {
      return await context.admit(sent, { isGet: method !== 'POST', canStream: false, caller });
    } catch (error) {
      if (error instanceof InvalidOperation) return error;
      throw error;
    }
  };

  return {
    async answer(request) {
      const { raw } = request;
      const sent = await readRequest(raw);
      const call = context.requestCall(request, await identityOf(context, raw));
      const outcome = await tryToAdmit(sent, raw, call);
      const { status, headers, text } = await answers.answer({ call, outcome, accept: raw.headers.accept });
      return { status, headers: [...headers, NO_STORE], text };
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
