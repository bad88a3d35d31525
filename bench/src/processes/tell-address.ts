import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens, tells the parent where, and ends with it: without it there is nobody to serve. */
export function tellAddress(server: Server, path = ''): void {
  process.once('disconnect', () => process.exit(0));
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo; // it listens on TCP
    process.send?.({ url: `http://127.0.0.1:${port}${path}` });
  });
}
