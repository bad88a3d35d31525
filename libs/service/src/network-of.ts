import { isIP } from 'node:net';

/**
 * What a caller's limits are counted by. An IPv6 network of 64 bits is one household or one host: whoever has one address
 * of it has all of them. IPv4 has an address for each, in whatever form it is written.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%'); // without the zone of a link-local one
  if (isIP(plain) !== 6) return address;
  const groups = groupsOf(plain);
  const isIPv4 = groups.slice(0, 5).every((group) => group === '0') && groups[5] === 'ffff';
  return isIPv4 ? groups.slice(6).flatMap(bytesOf).join('.') : `${groups.slice(0, 4).join(':')}::/64`;
}

/** The eight groups, each in hexadecimal without zeros in front: as URLs write them, once the gap is filled. */
function groupsOf(address: string): string[] {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = shortest.split('::').map((part) => (part === '' ? [] : part.split(':')));
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail];
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}
