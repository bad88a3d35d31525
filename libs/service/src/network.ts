import { BlockList, isIP, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { detached } from './v8.ts';

const HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

const addresses = new BlockList();
addresses.addSubnet('127.0.0.0', 8, 'ipv4');
addresses.addAddress('::1', 'ipv6');

export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && addresses.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a `Host` header can only mean this machine; a hostile resolver could map any other name to it. */
export function isLoopbackHost(host: string): boolean {
  return HOST.test(host);
}

const MAX_KNOWN = 1_000;
/** Networks by IPv6 address: each takes microseconds, and a request needs its own several times. */
const known = new Map<string, string>();

/**
 * The key for a caller's rate limits. A /64 of IPv6 is one household or host, which can use all of its addresses. An
 * IPv4 address is its own key, also when mapped to IPv6.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%'); // without the zone of a link-local address
  if (isIP(plain) !== 6) return address;
  let network = known.get(plain);
  if (network !== undefined) return network;
  const groups = groupsOf(plain);
  const isIPv4 = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  network = isIPv4 ? bytesOf(groups.slice(6)).join('.') : `${groups.slice(0, 4).join(':')}::/64`;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(detached(plain), network);
  return network;
}

/** The site of a network (from `networkOf`): an IPv6 site is a /48, which contains 65,536 networks. */
export const siteOf = (network: string): string =>
  network.endsWith('::/64') ? network.split(':').slice(0, 3).join(':') : network;

/** The limits of a site, as a multiple of those of a network. */
export const NETWORKS_PER_SITE = 4;

/** All eight groups in hexadecimal without leading zeros: the form in URLs, with `::` expanded. */
function groupsOf(address: string): string[] {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = shortest.split('::').map((part) => (part === '' ? [] : part.split(':')));
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail];
}

const bytesOf = (groups: string[]) => Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');

const BEARER = /^bearer +(\S+) *$/i;

/** The token in an `Authorization` header; empty when it is not a bearer token. */
export function bearerToken(header: string | undefined): string {
  return BEARER.exec(header ?? '')?.[1] ?? '';
}

/** How long a request may pause while it arrives. */
const ARRIVAL_MS = 1_000;
/** How long its body may still take, however steadily it arrives. */
const BODY_MS = 3_000;
const DRAIN_MS = 20_000;
const SWEEP_MS = 50;
/** Clients that have sent no request for this long count as inactive. */
const QUIET_MS = 1_000;

/**
 * Lets a stopping server wait for its requests, within limits, but not for connections without one. Node treats
 * connections that have sent nothing or part of a request as busy, and no longer times them out once the server is
 * closing. For `lingerMs`, or until no client is active, the server still accepts requests, and each response asks the
 * client to close: a request already on its way over a connection that we close would fail. `mayTakeLong` exempts connections
 * from the limit for bodies.
 */
export function closePromptly(
  app: FastifyInstance,
  { lingerMs = 0, mayTakeLong = (_socket: Socket): boolean => true } = {},
): void {
  const { server } = app;
  /** The newest response that has not ended, by connection. */
  const responses = new Map<Socket, ServerResponse | undefined>();
  server.on('connection', (socket: Socket) => {
    responses.set(socket, undefined);
    socket.once('close', () => responses.delete(socket));
  });
  const received = new WeakMap<ServerResponse, { bytes: number; changedMs: number; begunMs: number }>();
  /** Whether the rest of a request's body has not arrived for a while, or takes too long. */
  const isStuck = (socket: Socket, response: ServerResponse) => {
    if (response.req.readableFlowing !== true || response.req.complete) {
      received.delete(response);
      return false;
    }
    const [{ bytesRead: bytes }, nowMs] = [socket, performance.now()];
    const last = received.get(response) ?? { bytes, changedMs: nowMs, begunMs: nowMs };
    const changedMs = last.bytes === bytes ? last.changedMs : nowMs;
    received.set(response, { ...last, bytes, changedMs });
    return nowMs - changedMs >= ARRIVAL_MS || (nowMs - last.begunMs >= BODY_MS && !mayTakeLong(socket));
  };
  let lastRequestAt = -Infinity;
  server.on('request', ({ socket }, response) => {
    responses.set(socket, response);
    response.once('close', () => responses.get(socket) === response && responses.set(socket, undefined)); // an idle connection holds on to nothing
    lastRequestAt = performance.now();
  });

  app.addHook('preClose', async () => {
    const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
    const lingersUntil = performance.now() + lingerMs;
    const isBusy = () => responses.size > 0 && performance.now() < lastRequestAt + QUIET_MS;
    while (isBusy() && performance.now() < lingersUntil) await sleep(SWEEP_MS);
    const begun = performance.now();
    const sweep = setInterval(() => {
      // A connection that becomes idle later would otherwise stay open until its keep-alive timeout.
      server.closeIdleConnections();
      if (performance.now() - begun < ARRIVAL_MS) return;
      for (const [socket, response] of responses)
        if (!response || response.writableFinished || isStuck(socket, response)) socket.destroy();
    }, SWEEP_MS).unref();
    server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(cut);
    });
  });
}
