import type { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';
import createSocketFactory from 'kafkajs/src/network/socketFactory.js';

/**
 * The sockets of one client, which can be cut for good. The library's own disconnect waits for answers, and after a
 * time-out it keeps the socket (pull request 1783): with a frozen or unreachable broker either takes minutes.
 */
export interface Sockets {
  factory: ISocketFactory;
  /** Fails pending requests at once; no new socket is opened afterwards. */
  cut(reason: string): void;
}

export function createSockets(): Sockets {
  const create = createSocketFactory();
  const open = new Set<Socket>();
  let cutBecause: string | undefined;

  return {
    factory(options) {
      if (cutBecause !== undefined) throw new Error(cutBecause);
      const socket = create(options);
      socket.setNoDelay(true);
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      return socket;
    },
    cut(reason) {
      cutBecause = reason;
      // The library listens to errors, but not to "close".
      for (const socket of open) socket.destroy(new Error(reason));
    },
  };
}
