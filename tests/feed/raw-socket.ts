import { eventually } from '@taskmesh/testing';
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Opens a socket without a client library. */
export async function openSocket(url: string, { protocol }: { protocol?: string } = {}) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol ? [protocol] : []);
  const frames: unknown[] = [];
  let closed = 'no';
  socket.on('message', (bytes) => frames.push(JSON.parse(String(bytes))));
  socket.on('close', (code, reason) => (closed = `${code} ${String(reason)}`));
  await once(socket, 'open');
  socket.on('error', () => undefined); // `close` follows
  return {
    send: (frame: unknown) => socket.send(JSON.stringify(frame)),
    /** Resolves with the first past or future frame that fits. */
    frame: (fits: (frame: never) => boolean) =>
      eventually(
        () => {
          const found = frames.find((frame) => fits(frame as never));
          if (found === undefined) throw new Error(`Frames: ${JSON.stringify(frames)}; closed: ${closed}`);
          return found as never;
        },
        { timeoutMs: 15_000 },
      ),
    close: () => socket.close(),
  };
}
