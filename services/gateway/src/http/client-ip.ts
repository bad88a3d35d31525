import proxyAddr from '@fastify/proxy-addr';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * Who really calls: the peer, or when that is a trusted proxy, the nearest address in `X-Forwarded-For` that is none.
 * `trusted` holds addresses and networks.
 */
export function createClientIp(trusted: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trusted]);
  return (request) => {
    if (request.headers['x-forwarded-for'] === undefined) return plain(request.socket.remoteAddress ?? '');
    // Whatever stands left of nonsense was written by nobody whom we trust.
    return plain(proxyAddr.all(request, isTrusted).findLast((address) => isIP(address) !== 0) ?? '');
  };
}

/** An IPv4 address that a dual-stack socket shows as IPv6. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
