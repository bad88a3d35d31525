import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Few clients send a request before the response to the one before has ended; those that do send some. */
const MAX_WAITING = 32;

interface Turns {
  current: ServerResponse;
  waiting: number;
}

const connections = new WeakMap<Socket, Turns>();

/** The response that a connection is being sent, or was sent last. */
export const currentResponse = (socket: Socket): ServerResponse | undefined => connections.get(socket)?.current;

/**
 * Runs one request of a connection at a time. Node would run all that arrive, and keep their responses where no limit
 * counts them, for as long as the first one takes: a stream takes hours. Call it before any other hook.
 */
export function serveInTurn(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { socket } }, { raw: response }, done) => {
    const begin = () => {
      turns.current = response;
      done();
    };
    const turns = connections.get(socket) ?? { current: response, waiting: 0 };
    connections.set(socket, turns);
    // It has none before the response in front of it has ended.
    if (response.socket) return begin();
    if (turns.waiting >= MAX_WAITING) return void socket.destroy();
    turns.waiting++;
    response.once('socket', () => {
      turns.waiting--;
      begin();
    });
  });
}
