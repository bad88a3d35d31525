import { AppError } from '@taskmesh/errors';
import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';

const CHECKS = 10;

/**
 * A request's body as a stream of its own: who destroys it leaves the connection whole, so that an answer still reaches the
 * client. It ends with a BAD_USER_INPUT when the client goes away, or sends nothing for `silenceMs` while more is wanted.
 */
export function receiveBody(request: IncomingMessage, { silenceMs }: { silenceMs: number }): Readable {
  const body = new PassThrough({ highWaterMark: 1024 * 1024 });
  let quietMs = 0;
  const watch = setInterval(() => {
    quietMs = body.writableNeedDrain ? 0 : quietMs + silenceMs / CHECKS;
    if (quietMs > silenceMs) body.destroy(new AppError('BAD_USER_INPUT', 'The upload stalled.'));
  }, silenceMs / CHECKS);

  const onData = (part: Buffer) => {
    quietMs = 0;
    if (!body.write(part)) request.pause();
  };
  const onDrain = () => request.resume();
  const onEnd = () => {
    clearInterval(watch);
    body.end();
  };
  const onCut = (cause?: unknown) => {
    if (!request.complete) body.destroy(new AppError('BAD_USER_INPUT', 'The upload broke off.', { cause }));
  };
  request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  body.on('drain', onDrain).on('error', () => undefined); // told to who reads it, too
  body.once('close', () => {
    clearInterval(watch);
    request.off('data', onData).off('end', onEnd).off('close', onCut);
    request.resume(); // what still comes is passed over
  });
  return body;
}
