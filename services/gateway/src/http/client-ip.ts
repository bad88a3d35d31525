import proxyAddr from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The client's address: the peer's or, behind trusted proxies, the nearest address in `X-Forwarded-For` (without that,
 * in `Forwarded`) that is not one of them. `trusted` holds addresses and networks.
 */
export function createClientIp(trusted: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trusted]);
  return ({ headers, socket }) => {
    let nearest = plain(socket.remoteAddress ?? '') ?? '';
    const hops = forwardedIn(headers);
    for (let hop = 0; isTrusted(nearest, hop); hop++) {
      const address = plain(hops.pop() ?? '');
      // What is left of an invalid entry comes from an untrusted source.
      if (address === undefined) break;
      nearest = address;
    }
    return nearest;
  };
}

/** The nearest one last. No address contains a comma, so what a client wrote cannot hide what a proxy added. */
function forwardedIn(headers: IncomingMessage['headers']): string[] {
  const addresses = headers['x-forwarded-for'];
  if (addresses !== undefined) return String(addresses).split(',');
  return (headers.forwarded?.split(',') ?? []).map((hop) => /(?:^|;)\s*for\s*=\s*([^;]*)/i.exec(hop)?.[1] ?? '');
}

/** As proxies write addresses: quoted, with a port, in brackets (RFC 7239, 6). */
const WRITTEN = /^\s*("?)(?:\[([^\]]+)\](?::\w+)?|([\d.]+)(?::\w+)?|([^[\]"]+?))\1\s*$/;

/** Undefined for what is not an address. IPv4 addresses appear as IPv6 on a dual-stack socket. */
function plain(written: string): string | undefined {
  const [, , bracketed, ipv4, other] = WRITTEN.exec(written) ?? [];
  const address = bracketed ?? ipv4 ?? other ?? '';
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString();
}
