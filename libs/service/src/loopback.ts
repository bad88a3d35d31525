import { BlockList, isIP } from 'node:net';

const HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

const addresses = new BlockList();
addresses.addSubnet('127.0.0.0', 8, 'ipv4');
addresses.addAddress('::1', 'ipv6');

export function isLoopbackAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && addresses.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a `Host` header can only mean this machine; any other name could come from a hostile resolver. */
export function isLoopbackHost(host: string): boolean {
  return HOST.test(host);
}
