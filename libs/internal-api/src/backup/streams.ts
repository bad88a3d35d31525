import { PassThrough, Readable } from 'node:stream';
import { AppError } from '@taskmesh/contracts';
import type { IncomingMessage } from 'node:http';

/** The response of long work: one JSON object per line, the last of which is the result. */
export type Lines = ReturnType<typeof createLines>;

const THROTTLE_MS = 100;

/** Repeats the last line (at first a blank one) every `repeatMs`, so that each end knows that the other is alive. */
export function createLines({ repeatMs }: { repeatMs: number }) {
  const stream = new Readable({ read: () => undefined });
  let lastLine = '';
  let lastPart = '';
  let waiting: object | undefined;
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;

  const push = (text: string) => {
    if (!stream.destroyed) stream.push(text);
  };
  const show = () => {
    timer = undefined;
    if (!waiting) return;
    lastLine = JSON.stringify({ progress: waiting });
    waiting = undefined;
    push(`${lastLine}\n`);
  };
  // Do not repeat lines to a reader that lags behind.
  const repeat = setInterval(() => stream.readableLength === 0 && push(`${lastLine}\n`), repeatMs);

  return {
    stream,
    /** Throttled, except when the phase or the store changes. */
    progress(progress: { phase: string; store?: string }) {
      if (hasEnded) return; // abandoned work continues for a while
      const part = `${progress.phase} ${progress.store ?? ''}`;
      if (part !== lastPart) show();
      waiting = progress;
      if (part !== lastPart) show();
      else timer ??= setTimeout(show, THROTTLE_MS);
      lastPart = part;
    },
    end(line: object): void {
      clearInterval(repeat);
      clearTimeout(timer);
      show();
      hasEnded = true;
      push(`${JSON.stringify(line)}\n`);
      if (!stream.destroyed) stream.push(null);
    },
  };
}

/** Reads the lines of such a response, without the blank ones. */
export async function* readLines(body: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const part of body.setEncoding('utf8')) {
    const lines = `${rest}${String(part)}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}

const CHECKS_PER_SILENCE = 10;

/**
 * Returns a request's body as a separate stream: destroying it keeps the connection, so that a response still reaches the client.
 * Fails with BAD_USER_INPUT when the client disconnects (or already has), or stalls for `silenceMs` while the stream has room.
 */
export function receiveBody(request: IncomingMessage, { silenceMs }: { silenceMs: number }): Readable {
  const body = new PassThrough({ highWaterMark: 1024 * 1024 });
  let quietMs = 0;
  const watch = setInterval(() => {
    quietMs = body.writableNeedDrain ? 0 : quietMs + silenceMs / CHECKS_PER_SILENCE;
    if (quietMs > silenceMs) body.destroy(new AppError('BAD_USER_INPUT', 'The upload stalled.'));
  }, silenceMs / CHECKS_PER_SILENCE);

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
    // `complete` does not mean that everything was read: the rest is lost with the connection.
    if (!request.readableEnded) body.destroy(new AppError('BAD_USER_INPUT', 'The upload was interrupted.', { cause }));
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
