import { AppError } from '@taskmesh/errors';
import { createLines, type Lines, type OnWorkProgress } from '@taskmesh/internal-api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE, toAppError } from '../../http/errors.ts';

/** Each line is a JSON object. */
export const LINES_TYPE = 'application/x-ndjson';
const REPEAT_MS = 5_000;

export interface BackupAnswer {
  status: number;
  body: { success: boolean; message: string; error?: string; count?: number; data?: object; dropped?: string[] };
  /** Beside the body on the last of the lines. */
  inLines?: object;
}

export function sendAnswer(reply: FastifyReply, { status, body }: BackupAnswer): FastifyReply {
  return reply
    .code(status)
    .header('content-type', JSON_TYPE)
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}

export interface LongWork {
  run(onProgress?: OnWorkProgress): Promise<BackupAnswer>;
  /** Hears of failures that are defects when the answer's status is out already. */
  onDefect(error: unknown): void;
}

/**
 * Answers with the end of the work or, to a client that asked for lines, with its progress and the end, which then says its
 * status itself. What fails before there is any progress is answered in the ordinary way. The work goes on without the client.
 */
export async function answerWork(
  request: FastifyRequest,
  reply: FastifyReply,
  work: LongWork,
): Promise<FastifyReply | undefined> {
  if (!wantsLines(request)) return sendAnswer(reply, await work.run());
  let lines: Lines | undefined;
  const begin = () => {
    const made = createLines({ repeatMs: REPEAT_MS });
    reply.code(200).header('content-type', LINES_TYPE).header('cache-control', 'no-store').send(made.stream);
    return made;
  };
  try {
    const { status, body, inLines } = await work.run((progress) => (lines ??= begin()).progress(progress));
    if (status >= 400 && !lines) return sendAnswer(reply, { status, body });
    (lines ??= begin()).end({ status, ...body, ...inLines });
  } catch (error) {
    if (!lines) throw error;
    const known = toAppError(error);
    if (!(error instanceof AppError)) work.onDefect(error);
    lines.end({ status: known.httpStatus, success: false, message: known.message, error: known.message });
  }
  return reply;
}

function wantsLines({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').split(',').some((type) => type.split(';')[0]?.trim().toLowerCase() === LINES_TYPE);
}
