import { isIP } from 'node:net';

/**
 * The key by which a caller's limits are counted. An IPv6 network of 64 bits is one household or host: whoever has one
 * of its addresses has them all. An IPv4 address stands for itself, in whatever form it is written.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%'); // without the zone of a link-local address
  if (isIP(plain) !== 6) return address;
  const groups = groupsOf(plain);
  const isIPv4 = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isIPv4 ? groups.slice(6).flatMap(bytesOf).join('.') : `${groups.slice(0, 4).join(':')}::/64`;
}

/** What a network (of `networkOf`) belongs to: an IPv6 site has 48 bits, with 65,536 networks of 64. */
export const siteOf = (network: string): string =>
  network.endsWith('::/64') ? network.split(':').slice(0, 3).join(':') : network;

/** A site may have as much of what is limited per network as this many of its networks. */
export const NETWORKS_PER_SITE = 4;

/** All eight groups in hexadecimal without leading zeros: the form in URLs, with the gap filled. */
function groupsOf(address: string): string[] {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = shortest.split('::').map((part) => (part === '' ? [] : part.split(':')));
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail];
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}
