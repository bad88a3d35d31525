import { once } from 'node:events';
import { connect } from 'node:net';
import type { Conversation } from './conversations.ts';
import { createTitleFinder } from './titles.ts';

const SIGN_OF_LIFE_MS = 10_000;
const SAID_AT_MOST = 500;

export type OpenSocket = Awaited<ReturnType<typeof openSocket>>;

/**
 * Connects and has the conversation; resolves when nothing is left to be said. `onChange` hears the numbers of changes
 * from then on, `onEnd` that the server closed the connection.
 */
export function openSocket(
  url: string,
  conversation: Conversation,
  { onChange, onEnd }: { onChange: (n: number) => void; onEnd: (error: Error) => void },
) {
  const { hostname, port } = new URL(url);
  const { opening, accepted, turns, signOfLife } = conversation;
  return new Promise<{ close(): Promise<void> }>((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    let heard = '';
    let next = 0;
    let isLive = false;
    let timer: NodeJS.Timeout | undefined;

    const live = () => {
      isLive = true;
      const find = createTitleFinder(onChange);
      socket.removeAllListeners('data').on('data', find);
      // Not all at the same moment.
      if (signOfLife) timer = setInterval(() => socket.write(signOfLife), SIGN_OF_LIFE_MS * (0.8 + Math.random() / 5));
      resolve({
        async close() {
          clearInterval(timer);
          socket
            .removeAllListeners('close')
            .removeAllListeners('data')
            .on('error', () => undefined);
          if (socket.closed) return;
          socket.destroy();
          await once(socket, 'close');
        },
      });
    };
    const fail = (error: Error) => {
      clearInterval(timer);
      if (isLive) onEnd(error);
      else reject(error);
    };
    socket.on('connect', () => socket.write(opening));
    socket.on('error', fail);
    socket.on('close', () =>
      fail(new Error(`The server closed a connection. It had said: ${heard.slice(-SAID_AT_MOST)}`)),
    );
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      if (!heard.startsWith(accepted.slice(0, heard.length)))
        return void socket.destroy(new Error(`A connection was refused: ${heard.slice(0, SAID_AT_MOST)}`));
      if (!heard.includes('\r\n\r\n')) return;
      for (let turn = turns[next]; turn && heard.includes(turn.after); turn = turns[++next]) socket.write(turn.say);
      if (next === turns.length) live();
    });
  });
}
