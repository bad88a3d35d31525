import proxyAddr from '@fastify/proxy-addr';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The client's address: the peer's or, behind trusted proxies, the nearest address in `X-Forwarded-For` that is not one
 * of them. `trusted` holds addresses and networks.
 */
export function createClientIp(trusted: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trusted]);
  return (request) => {
    if (request.headers['x-forwarded-for'] === undefined) return plain(request.socket.remoteAddress ?? '');
    // What is left of an invalid entry comes from an untrusted source.
    return plain(proxyAddr.all(request, isTrusted).findLast((address) => isIP(address) !== 0) ?? '');
  };
}

/** IPv4 addresses appear as IPv6 on a dual-stack socket. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
