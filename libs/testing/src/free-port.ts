import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

// Below those that systems give to connections and to programs that listen on any: no program takes one that is free for a while.
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** For a server that has to come back on the same port. Returns the port. */
export async function listenOnLastingPort(server: Server): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** For a process that is given its port before it starts. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnLastingPort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
