import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A socket without a client library. */
interface RawSocket {
  send(frame: unknown): void;
  /** Resolves with the first past or future frame that fits. */
  frame(fits: (frame: never) => boolean): Promise<never>;
  closing(): Promise<{ code: number; reason: string }>;
  close(): void;
}

export async function openSocket(url: string, { protocol }: { protocol?: string } = {}): Promise<RawSocket> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol ? [protocol] : []);
  const frames: unknown[] = [];
  let closed: { code: number; reason: string } | undefined;
  socket.on('message', (bytes) => frames.push(JSON.parse(String(bytes))));
  socket.on('close', (code, reason) => (closed = { code, reason: String(reason) }));
  await once(socket, 'open');
  socket.on('error', () => undefined); // `close` follows
  return {
    send: (frame) => socket.send(JSON.stringify(frame)),
    frame: (fits) =>
      eventually(
        () => {
          const found = frames.find((frame) => fits(frame as never));
          if (found === undefined)
            throw new Error(`No such frame; there are ${JSON.stringify(frames)}, closed: ${JSON.stringify(closed)}`);
          return found as never;
        },
        { timeoutMs: 15_000 },
      ),
    closing: () =>
      eventually(() => closed ?? Promise.reject(new Error('The socket is still open.')), { timeoutMs: 15_000 }),
    close: () => socket.close(),
  };
}
