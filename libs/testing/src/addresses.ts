import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { atEnd } from './at-end.ts';

/** Returns the address of a real server for tests; `npm test` starts the servers and sets these variables. */
export function requiredAddress(name: 'POSTGRES_URL' | 'REDIS_URL' | 'KAFKA_BROKERS'): string {
  const address = process.env[name];
  if (!address)
    throw new Error(`${name} is not set: run the tests with "npm test -- <path>", which starts the servers.`);
  return address;
}

/** Redis has 16 databases; the first one is for tests of single services. */
const REDIS_DATABASES = 16;

/** Settings for an installation that shares the servers with other tests, but no data. */
export function ownInstallation() {
  const name = `test_${randomInt(2 ** 32).toString(36)}`;
  const redis = new URL(requiredAddress('REDIS_URL'));
  redis.pathname = `/${randomInt(1, REDIS_DATABASES)}`;
  return {
    POSTGRES_URL: requiredAddress('POSTGRES_URL'),
    REDIS_URL: redis.href,
    KAFKA_BROKERS: requiredAddress('KAFKA_BROKERS'),
    DATABASE_PREFIX: `${name}_`,
    KAFKA_TOPIC_PREFIX: `${name}.`,
  };
}

/** Makes a server listen on a free port. */
export async function listen(server: Server, host = '127.0.0.1') {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.once('close', () => sockets.delete(socket))));
  await once(server.listen(0, host), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  /** Stops the server and destroys its connections, which also happens at the end of the test or file. */
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  atEnd(close);
  return { port, url: `http://127.0.0.1:${port}`, close };
}

// Below the ephemeral ports, which systems assign by themselves: a port that is free here stays free for a while.
const LOWEST_PORT = 15_000;
const HIGHEST_PORT = 32_000;

/** Waits until a connection is closed, also by a reset, at which `once(socket, 'close')` would fail. */
export const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.once('close', () => resolve()));

/** For a server that must be able to listen on the same port again later. Returns the port. */
export async function listenOnReusablePort(server: Server): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
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
  const port = await listenOnReusablePort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
