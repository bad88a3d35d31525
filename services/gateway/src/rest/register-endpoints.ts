import { toAppError } from '@taskmesh/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../context.ts';
import { errorBody, sendError, setErrorHead, type Envelope } from '../http/errors.ts';
import { refuseOtherMethods } from '../http/method-not-allowed.ts';
import { addVary } from '../http/vary.ts';
import { wantsPage } from '../pages/page.ts';
import type { Endpoint, ErrorPage } from './endpoint.ts';
import { createAnswerEndpoint, type AnswerEndpoint, type EndpointContext } from './answer-endpoint.ts';
import { answerInNdjson, wantsNdjson } from './ndjson-progress.ts';
import type { PreparedOperations } from './operations.ts';
import { sendAnswer } from './send-answer.ts';

export type RegisterContext = EndpointContext & Pick<GatewayContext, 'log'>;

export interface Mount {
  prefix: string;
  envelope: Envelope;
  endpoints: readonly Endpoint[];
}

/** Serves endpoints below a prefix, and answers 405 and OPTIONS for each of their paths. */
export function registerEndpoints(
  app: FastifyInstance,
  context: RegisterContext,
  operations: PreparedOperations,
  mount: Mount,
): void {
  const { prefix, envelope, endpoints } = mount;
  const told = (error: unknown, requestId: string) => {
    const known = toAppError(error);
    if (known !== error && known.httpStatus === 500) context.log.error({ err: error, requestId }, 'request failed');
    return known;
  };
  const failureLine = (error: unknown, requestId: string) => {
    const known = told(error, requestId);
    return { status: known.httpStatus, ...errorBody(known, requestId, envelope) };
  };
  const sendFailure: SendFailure = (error, request, reply, page) => {
    const known = told(error, request.id);
    if (!page) return sendError(reply, known, envelope);
    addVary(reply, 'Accept').header('cache-control', 'no-store');
    return wantsPage(request) ? page(setErrorHead(reply, known), known) : sendError(reply, known, envelope);
  };
  void app.register(async (scope) => {
    for (const endpoint of endpoints)
      addEndpoint(scope, endpoint, {
        url: urlOf(prefix, endpoint.path),
        answer: createAnswerEndpoint(context, operations, endpoint),
        sendFailure,
        failureLine,
      });
    for (const [path, methods] of methodsByPath(endpoints)) {
      refuseOtherMethods(scope, urlOf(prefix, path), methods, envelope);
    }
  });
}

type SendFailure = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  page: ErrorPage | undefined,
) => FastifyReply;

interface Served {
  url: string;
  answer: AnswerEndpoint;
  sendFailure: SendFailure;
  failureLine: (error: unknown, requestId: string) => object;
}

function addEndpoint(
  scope: FastifyInstance,
  endpoint: Endpoint,
  { url, answer, sendFailure, failureLine }: Served,
): void {
  const { method, status, lineSchema, errorPage } = endpoint;
  const isSecret = mayHoldSecrets(endpoint);
  scope.route({
    method: method === 'GET' ? ['GET', 'HEAD'] : method,
    url,
    errorHandler: (error, request, reply) => void sendFailure(error, request, reply, errorPage),
    handler: async (request, reply) => {
      if (isSecret) reply.header('cache-control', 'no-store');
      if (!lineSchema || !wantsNdjson(request))
        return sendAnswer(request, reply, { status, ...(await answer(request)) });
      return answerInNdjson(reply, {
        run: async (onProgress) => ({ status, ...(await answer(request, onProgress)) }),
        send: (given) => sendAnswer(request, reply, given),
        failureLine: (error) => failureLine(error, request.id),
      });
    },
  });
}

/** What is for operators or about an account must not be cached, a token least of all. */
const mayHoldSecrets = ({ access, path }: Endpoint) =>
  access === 'operator' || access === 'operators-place' || path.startsWith('/auth/');

const urlOf = (prefix: string, path: string) => `${prefix}${path.replace(/\{(\w+)\}/, ':$1')}`;

function methodsByPath(endpoints: readonly Endpoint[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of endpoints) {
    const known = methods.get(path) ?? [];
    methods.set(path, [...(method === 'GET' ? ['GET', 'HEAD'] : [method]), ...known]);
  }
  return methods;
}
