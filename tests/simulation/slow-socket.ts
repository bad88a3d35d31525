import { waitForDrain, isTooFarBehind } from '@taskmesh/realtime-protocol';
import { EventEmitter } from 'node:events';
import type { WebSocket } from 'ws';
import type { VirtualTime } from './virtual-time.ts';

/** The simulated size of each frame: a few dozen fill the buffer of a client. */
const FRAME_BYTES = 24 * 1024;

export type SlowSocket = ReturnType<typeof createSlowSocket>;

/** Creates the server's end of a socket whose client may stop reading for a while. */
export function createSlowSocket(time: VirtualTime) {
  let waiting: string[] = [];
  let stalledUntil = 0;
  let onText: (text: string) => void = () => {};
  let onClosed: (code: number) => void = () => {};

  const emitter = new EventEmitter();
  const socket = Object.assign(emitter, {
    OPEN: 1,
    CLOSED: 3,
    readyState: 1,
    bufferedAmount: 0,
    protocol: '',
    send(text: string) {
      if (socket.readyState !== socket.OPEN) return;
      if (waiting.length === 0 && time.now() >= stalledUntil) return onText(text);
      waiting.push(text);
      socket.bufferedAmount = waiting.length * FRAME_BYTES;
    },
    ping: () => void time.sleep(1).then(() => emitter.emit('pong')),
    close(code = 1005) {
      if (socket.readyState !== socket.OPEN) return;
      socket.readyState = socket.CLOSED;
      waiting = [];
      void time.sleep(1).then(() => {
        emitter.emit('close', code, Buffer.alloc(0));
        onClosed(code);
      });
    },
    terminate: () => socket.close(1006),
  });

  return {
    /** The socket as the server sees it. */
    server: socket as unknown as WebSocket,
    connection: {
      writableLength: 0,
      write(frame: Buffer) {
        socket.send(textOf(frame));
        return true;
      },
    },
    onText: (listener: (text: string) => void) => void (onText = listener),
    onClosed: (listener: (code: number) => void) => void (onClosed = listener),
    /** Sends a text as the server's protocols do. Returns false if the client is too slow. */
    send(text: string): boolean {
      if (isTooFarBehind(socket as unknown as WebSocket)) return false;
      socket.send(text);
      return true;
    },
    drained: () => waitForDrain(socket as unknown as WebSocket),
    /** Sends a message of the client. */
    say: (text: string) =>
      void (socket.readyState === socket.OPEN && emitter.emit('message', Buffer.from(text), false)),
    stall(ms: number) {
      stalledUntil = Math.max(stalledUntil, time.now() + ms);
      void time.sleep(ms).then(() => {
        if (time.now() < stalledUntil) return;
        const texts = waiting;
        waiting = [];
        socket.bufferedAmount = 0;
        for (const text of texts) onText(text);
      });
    },
    close: () => socket.close(1006),
  };
}

/** Returns the text of a frame, without its header. */
function textOf(frame: Buffer): string {
  const length = frame[1] ?? 0;
  return frame.toString('utf8', length < 126 ? 2 : length === 126 ? 4 : 10);
}
