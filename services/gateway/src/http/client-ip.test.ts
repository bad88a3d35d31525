import type { IncomingMessage } from 'node:http';
import { createClientIp } from './client-ip.ts';

const from = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as IncomingMessage; // all that is read

describe('the address of a client', () => {
  const clientIp = createClientIp(['10.0.0.0/8', '192.168.1.1']);

  it.each([
    ['the peer, when nothing is forwarded', from('203.0.113.9'), '203.0.113.9'],
    ['the peer, whatever an untrusted one forwards', from('203.0.113.9', '1.2.3.4'), '203.0.113.9'],
    ['what a trusted proxy forwards', from('10.1.2.3', '198.51.100.7'), '198.51.100.7'],
    ['the nearest that no proxy of ours wrote', from('10.1.2.3', '1.1.1.1, 198.51.100.7, 192.168.1.1'), '198.51.100.7'],
    ['nothing left of nonsense', from('10.1.2.3', '198.51.100.7, unknown, 10.9.9.9'), '10.9.9.9'],
    ['the last proxy, when all are ours', from('10.1.2.3', '10.4.4.4'), '10.4.4.4'],
    ['the same over a dual-stack socket', from('::ffff:10.1.2.3', '::ffff:198.51.100.7'), '198.51.100.7'],
    ['an IPv6 address', from('10.1.2.3', '2001:db8::1'), '2001:db8::1'],
  ])('is %s', (_name, request, address) => {
    expect(clientIp(request)).toBe(address);
  });

  it('is never a forwarded one without trusted proxies', () => {
    expect(createClientIp([])(from('127.0.0.1', '1.2.3.4'))).toBe('127.0.0.1');
  });
});
