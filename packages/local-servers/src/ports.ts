import { createServer } from 'node:net';
import { errorCode } from './errors.ts';

// Below the range that systems use for outgoing connections (Linux from 32768, others higher), so that a server finds
// its port still free when it is restarted.
const LOWEST = 15_000;
const HIGHEST = 32_000;
const TRIES = 200;

/** Finds distinct TCP ports on the loopback interface that no process listens on at the moment. */
export async function findFreePorts(count: number, avoid: number[] = []): Promise<number[]> {
  const found = new Set<number>();
  for (let tries = 0; found.size < count && tries < TRIES; tries++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (!found.has(port) && !avoid.includes(port) && (await whyPortFails(port, '127.0.0.1')) === undefined)
      found.add(port);
  }
  if (found.size < count) throw new Error(`No ${count} free ports between ${LOWEST} and ${HIGHEST}.`);
  return [...found];
}

export async function findFreePort(): Promise<number> {
  const [port = 0] = await findFreePorts(1);
  return port;
}

/** The error code (`EADDRINUSE`, `EACCES`, …) with which listening on this port fails; undefined if it would succeed. */
export function whyPortFails(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(errorCode(error) || 'UNKNOWN'));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
