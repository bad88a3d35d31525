import { AppError } from '@taskmesh/contracts';
import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';

const CHECKS = 10;

/**
 * A request's body as a separate stream: destroying it keeps the connection, so that an answer still reaches the
 * client. Fails with BAD_USER_INPUT when the client disconnects (or has before), or stalls for `silenceMs` while the stream has room.
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
    // `complete` does not mean that it was read: what is left is lost with the connection.
    if (!request.readableEnded) body.destroy(new AppError('BAD_USER_INPUT', 'The upload broke off.', { cause }));
  };
  request.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  body.on('drain', onDrain).on('error', () => undefined); // the reader gets the error as well
  body.once('close', () => {
    clearInterval(watch);
    request.off('data', onData).off('end', onEnd).off('close', onCut);
    request.resume(); // discards the rest
  });
  if (request.destroyed) onCut();
  return body;
}
