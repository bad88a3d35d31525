// The child's side of `processes.ts`. It imports little, because it is loaded into gateways whose memory is measured.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Functions that a process runs for its parent, one call after the other. Values are passed as JSON. */
export type Calls = Record<string, (...args: never[]) => Promise<unknown>>;
export type Reply = { result?: unknown } | { failure: string };

/** Serves the parent's calls until the parent exits. */
export function serveCalls(calls: Calls): void {
  process.once('disconnect', () => process.exit(0));
  process.on('message', ({ name, args }: { name: string; args: never[] }) => {
    const reply = (message: Reply) => void process.send?.(message);
    void calls[name]?.(...args).then(
      (result) => reply({ result }),
      (error: unknown) => reply({ failure: error instanceof Error ? error.message : String(error) }),
    );
  });
}

/** Sends the address to the parent, and exits with it. */
export function reportUrl(url: string): void {
  process.once('disconnect', () => process.exit(0));
  process.send?.({ url });
}

/** Listens on a free port and sends the address to the parent. */
export function listen(server: Server, path = ''): void {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo; // it listens on TCP
    reportUrl(`http://127.0.0.1:${port}${path}`);
  });
}
