import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { addNetwork } from '../config.ts';

/**
 * Who really calls: the peer, or when that is a trusted proxy, the nearest address in `X-Forwarded-For` that is none.
 * `trusted` holds addresses and networks.
 */
export function createClientIp(trusted: readonly string[]): (request: IncomingMessage) => string {
  const proxies = new BlockList();
  for (const network of trusted) addNetwork(proxies, network);
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  return ({ socket, headers }) => {
    const peer = plain(socket.remoteAddress ?? '');
    const forwarded = headers['x-forwarded-for'];
    if (trusted.length === 0 || forwarded === undefined || !isTrusted(peer)) return peer;
    let client = peer;
    for (const hop of String(forwarded).split(',').toReversed()) {
      const address = plain(hop.trim());
      // Whatever stands left of nonsense was written by nobody whom we trust.
      if (isIP(address) === 0) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return client;
  };
}

/** An IPv4 address that a dual-stack socket shows as IPv6. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
}
