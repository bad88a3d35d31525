import type { AppError } from '@taskmesh/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { LOOK } from '../look/look.ts';
import { servePageFiles } from '../page.ts';

/** What a browser gets instead of JSON when it is on its way to the sign-in provider, or back. Returns how to send it. */
export function serveFailedSignIn(app: FastifyInstance): (reply: FastifyReply, error: AppError) => FastifyReply {
  const send = servePageFiles(app, {
    url: '/failed-sign-in',
    html: new URL('./failed-sign-in.html', import.meta.url),
    ...LOOK,
  });
  return (reply, error) => send(reply, { reason: reasonFor(error, reply.request.id) });
}

function reasonFor({ code, httpStatus, message, retryAfterSeconds = 1 }: AppError, requestId: string): string {
  if (code === 'RATE_LIMITED') return `That was tried too often. Wait ${inWords(retryAfterSeconds)}, then start again.`;
  return httpStatus >= 500 ? `${message} If that does not help, ask about request ${requestId}.` : message;
}

function inWords(seconds: number): string {
  return seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}
