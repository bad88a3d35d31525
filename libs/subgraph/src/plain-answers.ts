import type { Identity } from '@taskmesh/identity';
import { parseTraceparent } from '@taskmesh/telemetry';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { createErrorAnswer } from './error-answer.ts';
import { callOf, isForGraph, one } from './request-call.ts';
import type { Subgraph, SubgraphRequest } from './subgraph.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

export interface PlainAnswersDeps {
  subgraph: Subgraph;
  authenticate: (authorization: string | undefined) => Promise<Identity>;
  errorAnswer: ReturnType<typeof createErrorAnswer>;
  limitBytes: number;
}

/** Answers requests as the gateway sends them, without a framework: nearly all that a service is asked. */
export function createPlainAnswers({ subgraph, authenticate, errorAnswer, limitBytes }: PlainAnswersDeps) {
  const run = async (request: IncomingMessage, identity: Identity): Promise<{ status: number; text: string }> => {
    try {
      const body = parse(await readBody(request));
      return { status: 200, text: JSON.stringify(await subgraph.execute(body, callOf(request, identity))) };
    } catch (error) {
      const { status, body } = errorAnswer(error, request.url);
      return { status, text: JSON.stringify(body) };
    }
  };

  return {
    claims({ method, url, headers }: IncomingMessage): boolean {
      if (method !== 'POST' || url !== '/graphql' || headers['content-type'] !== 'application/json') return false;
      if (headers.expect !== undefined || headers['content-encoding'] !== undefined) return false;
      const length = Number(headers['content-length'] ?? NaN);
      if (!(length > 0 && length <= limitBytes)) return false;
      const traceparent = one(headers.traceparent);
      return traceparent === undefined || parseTraceparent(traceparent)?.isSampled !== true;
    },

    /** `refuse`: answers those who may not ask. Before that nothing of the body is read. */
    answer(request: IncomingMessage, response: ServerResponse, refuse: () => void): void {
      authenticate(request.headers.authorization).then(async (identity) => {
        if (!isForGraph(identity)) return refuse();
        const { status, text } = await run(request, identity);
        const bytes = Buffer.byteLength(text);
        response.writeHead(status, ['content-type', JSON_TYPE, 'content-length', String(bytes)]);
        // Written faster, and the same, where each character is one byte.
        response.end(text, bytes === text.length ? 'latin1' : 'utf8');
      }, refuse);
    },
  };
}

function parse(text: string): SubgraphRequest {
  try {
    return JSON.parse(text) as SubgraphRequest; // what is none is refused when it runs
  } catch (cause) {
    throw Object.assign(new SyntaxError('The body is not valid JSON.', { cause }), { statusCode: 400 });
  }
}

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => resolve((chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString()))
      .on('error', reject);
  });
}
