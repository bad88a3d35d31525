import proxyAddr from '@fastify/proxy-addr';
import { networkOf } from '@taskmesh/service';
import type { Server, Socket } from 'node:net';

/** Closes further connections of a network that has so many already. Those of trusted proxies are not limited. */
export function limitConnections(
  server: Server,
  { maxPerNetwork, trustedProxies }: { maxPerNetwork: number; trustedProxies: readonly string[] },
): void {
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const remoteAddress = socket.remoteAddress?.split('%')[0]; // without the interface of a link-local address
    if (remoteAddress === undefined || isTrusted(remoteAddress, 0)) return;
    const network = networkOf(remoteAddress);
    const count = counts.get(network) ?? 0;
    if (count >= maxPerNetwork) return void socket.destroy();
    counts.set(network, count + 1);
    socket.once('close', () => {
      const left = (counts.get(network) ?? 1) - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    });
  });
}
