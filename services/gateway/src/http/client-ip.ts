import proxyAddr from '@fastify/proxy-addr';
import ipaddr from 'ipaddr.js';
import type { IncomingMessage } from 'node:http';
import { isIP, type Socket } from 'node:net';

/** Longer strings are not addresses in any form. */
const MAX_WRITTEN = 64;

/**
 * The client's address: the peer's or, behind trusted proxies, the nearest untrusted address in `X-Forwarded-For` or, without
 * that header, in `Forwarded`. `trusted` holds addresses and networks. A header that a proxy does not write itself reaches us as
 * the client wrote it, and nearly all proxies write `X-Forwarded-For`.
 */
export function createClientIp(trusted: readonly string[]): (request: IncomingMessage) => string {
  const isTrusted = proxyAddr.compile([...trusted]);
  const peers = new WeakMap<Socket, string>();
  const peerOf = (socket: Socket): string => {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const peer = plain(socket.remoteAddress ?? '') ?? '';
    peers.set(socket, peer);
    return peer;
  };
  return ({ headers, socket }) => {
    let nearest = peerOf(socket);
    if (trusted.length === 0) return nearest;
    const hops = forwardedIn(headers);
    for (let hop = 0; isTrusted(nearest, hop); hop++) {
      const address = plain(hops.pop() ?? '');
      // Everything to the left of an invalid entry comes from an untrusted source.
      if (address === undefined) break;
      nearest = address;
    }
    return nearest;
  };
}

/** The addresses, the nearest one last. None contains a comma, so a client cannot hide what a proxy added. */
function forwardedIn({ 'x-forwarded-for': addresses, forwarded = '' }: IncomingMessage['headers']): string[] {
  if (addresses !== undefined) return String(addresses).split(',');
  return forwarded.split(',').map((hop) => /(?:^|;)\s*for\s*=\s*([^;]*)/i.exec(hop)?.[1] ?? '');
}

/** The forms in which proxies write addresses: quoted, with a port, in brackets (RFC 7239, 6). */
const WRITTEN = /^("?)(?:\[([^\]]+)\](?::\w+)?|([\d.]+)(?::\w+)?|([^[\]"]+))\1$/;

/** Undefined if it is not an address. On dual-stack sockets, IPv4 addresses appear as IPv6; link-local ones have their interface. */
function plain(written: string): string | undefined {
  const trimmed = written.trim();
  if (trimmed.length > MAX_WRITTEN) return undefined;
  const [, , bracketed, ipv4, other] = WRITTEN.exec(trimmed) ?? [];
  const [address = ''] = (bracketed ?? ipv4 ?? other ?? '').split('%');
  return isIP(address) !== 0 && ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined;
}
