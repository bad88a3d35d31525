import { eventually } from '@taskmesh/testing';
import { WebSocket } from 'ws';

/** A socket without a client library, which shows every frame. */
export interface RawSocket {
  /** All JSON frames so far. */
  frames: unknown[];
  /** Set when the socket is closed. */
  closed: { code: number; reason: string } | undefined;
  /** The status of the handshake, if it is not 101. */
  refusedWith: number | undefined;
  send(frame: unknown): void;
  sendText(text: string | Buffer): void;
  /** Resolves with the first past or future frame that fits. */
  frame(fits: (frame: never) => boolean): Promise<never>;
  closing(): Promise<{ code: number; reason: string }>;
  close(): void;
}

export async function openSocket(
  url: string,
  { protocol, headers }: { protocol?: string; headers?: Record<string, string> } = {},
) {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), protocol ? [protocol] : [], { headers });
  const raw: RawSocket = {
    frames: [],
    closed: undefined,
    refusedWith: undefined,
    send: (frame) => socket.send(JSON.stringify(frame)),
    sendText: (text) => socket.send(text),
    frame: (fits) =>
      eventually(
        () => {
          const found = raw.frames.find((frame) => fits(frame as never));
          if (found === undefined)
            throw new Error(
              `No such frame; there are ${JSON.stringify(raw.frames)}, closed: ${JSON.stringify(raw.closed)}`,
            );
          return found as never;
        },
        { timeoutMs: 15_000 },
      ),
    closing: () =>
      eventually(() => raw.closed ?? Promise.reject(new Error('The socket is still open.')), { timeoutMs: 15_000 }),
    close: () => socket.close(),
  };
  socket.on('message', (bytes) => raw.frames.push(JSON.parse(String(bytes))));
  socket.on('close', (code, reason) => (raw.closed = { code, reason: String(reason) }));
  await new Promise<void>((resolve) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response) => {
      raw.refusedWith = response.statusCode;
      socket.terminate();
      resolve();
    });
    socket.on('error', () => resolve());
  });
  return raw;
}
