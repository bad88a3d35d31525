import { createServer } from 'node:net';
import { errorCode } from './errors.ts';

// Below the range that systems use for outgoing connections (Linux from 32768, others higher), so that a server finds
// its port still free when it is restarted.
const MIN_PORT = 15_000;
const MAX_PORT = 32_000;
/** The number of adjacent ports that a process tries before it moves to another block. */
const BLOCK_SIZE = 16;
const BLOCK_COUNT = Math.floor((MAX_PORT - MIN_PORT) / BLOCK_SIZE);
/** Coprime to BLOCK_COUNT, so that a process reaches every block. */
const STRIDE = 655;

let tries = 0;

/** The next port to try. Each process has an order of its own, so two that search at once find different ports. */
function nextPort(): number {
  const block = (process.pid + Math.floor(tries / BLOCK_SIZE) * STRIDE) % BLOCK_COUNT;
  return MIN_PORT + block * BLOCK_SIZE + (tries++ % BLOCK_SIZE);
}

/** Finds distinct TCP ports on the loopback interface that no process listens on at the moment. */
export async function findFreePorts(count: number, avoid: number[] = []): Promise<number[]> {
  const found: number[] = [];
  const end = tries + BLOCK_COUNT * BLOCK_SIZE;
  while (found.length < count && tries < end) {
    const port = nextPort();
    if (!avoid.includes(port) && (await findPortError(port, '127.0.0.1')) === undefined) found.push(port);
  }
  if (found.length < count) throw new Error(`No ${count} free ports between ${MIN_PORT} and ${MAX_PORT}.`);
  return found;
}

export async function findFreePort(): Promise<number> {
  const [port = 0] = await findFreePorts(1);
  return port;
}

/** The error code (`EADDRINUSE`, `EACCES`, …) with which listening on this port fails; undefined if it would succeed. */
export function findPortError(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(errorCode(error) || 'UNKNOWN'));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
