import { createLines, type Lines, type OnWorkProgress } from '@taskmesh/internal-api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isWanted } from '../http/accept.ts';
import type { GivenAnswer } from './send-answer.ts';

/** NDJSON: each line is a JSON object. */
export const NDJSON_TYPE = 'application/x-ndjson';
const REPEAT_MS = 5_000;

export function wantsNdjson({ headers }: FastifyRequest): boolean {
  return isWanted(headers.accept, (range) => range.split(';', 1)[0] === NDJSON_TYPE);
}

export interface LongWork {
  run(onProgress: OnWorkProgress): Promise<GivenAnswer>;
  send(answer: GivenAnswer): Promise<FastifyReply>;
  /** The last line when the work fails after the status has been sent. */
  failureLine(error: unknown): object;
}

/**
 * Streams progress, then the result, whose line includes the status. A failure before any progress is answered in the
 * ordinary way. If the client disconnects, the work goes on.
 */
export async function answerInNdjson(reply: FastifyReply, work: LongWork): Promise<FastifyReply> {
  let lines: Lines | undefined;
  const begin = () => {
    const made = createLines({ repeatMs: REPEAT_MS });
    reply.code(200).header('content-type', NDJSON_TYPE).send(made.stream);
    return made;
  };
  let answer: GivenAnswer;
  try {
    answer = await work.run((progress) => (lines ??= begin()).progress(progress));
  } catch (error) {
    if (!lines) throw error;
    lines.end(work.failureLine(error));
    return reply;
  }
  const { status, body, inLines } = answer;
  if (status >= 400 && !lines) return work.send(answer);
  (lines ??= begin()).end({ status, ...body, ...inLines });
  return reply;
}
