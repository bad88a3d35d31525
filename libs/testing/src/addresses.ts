import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

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

// Below the ephemeral ports, which systems assign by themselves: a port that is free here stays free for a while.
const LOWEST = 15_000;
const HIGHEST = 32_000;

/** For a server that must be able to listen on the same port again later. Returns the port. */
export async function listenOnReusablePort(server: Server): Promise<number> {
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
  const port = await listenOnReusablePort(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
