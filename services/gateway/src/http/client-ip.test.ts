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
    ['the peer, even if an untrusted one forwards an address', from('203.0.113.9', '1.2.3.4'), '203.0.113.9'],
    ['what a trusted proxy forwards', from('10.1.2.3', '198.51.100.7'), '198.51.100.7'],
    ['the last one not of a trusted proxy', from('10.1.2.3', '1.1.1.1, 198.51.100.7, 192.168.1.1'), '198.51.100.7'],
    ['never one before an invalid one', from('10.1.2.3', '198.51.100.7, unknown, 10.9.9.9'), '10.9.9.9'],
    ['the first proxy, when all are trusted', from('10.1.2.3', '10.4.4.4'), '10.4.4.4'],
    ['the peer, without the zone of its link', from('fe80::1%br-12ab'), 'fe80::1'],
    ['an IPv4 address over a dual-stack socket', from('::ffff:10.1.2.3', '::ffff:198.51.100.7'), '198.51.100.7'],
  ])('is %s', (_name, request, address) => {
    expect(clientIp(request)).toBe(address);
  });

  it.each([
    ['1.1.1.1, 198.51.100.66:1024, 10.0.0.1:80', '198.51.100.66'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['  198.51.100.66  ', '198.51.100.66'],
    ['::ffff:c633:6442', '198.51.100.66'],
    ['[::ffff:198.51.100.66]:1024', '198.51.100.66'],
    ['198.51.100.66, unknown', '10.1.2.3'],
    ['198.51.100.66, ', '10.1.2.3'],
    ['198.51.100.66:80:90', '10.1.2.3'],
    ['[2001:db8::1', '10.1.2.3'],
    ['0x7f.1', '10.1.2.3'],
    ['[fe80::1%a-b]', 'fe80::1'],
    ['fe80::1%:', 'fe80::1'],
    [`fe80::1%${'x'.repeat(56)}`, 'fe80::1'],
    [`fe80::1%${'x'.repeat(57)}`, '10.1.2.3'],
  ])('is found in the forms that proxies write: %s', (forwarded, address) => {
    expect(clientIp(from('10.1.2.3', forwarded))).toBe(address);
  });

  it.each([
    ['for="198.51.100.66:1024"', '198.51.100.66'],
    ['For="[2001:db8::1]:443"; proto=https; by=203.0.113.43', '2001:db8::1'],
    ['proto=https;for=198.51.100.66 , for=10.0.0.1;by=10.0.0.2', '198.51.100.66'],
    ['for="1.1.1.1, for=198.51.100.66', '198.51.100.66'],
    ['for=1.1.1.1, for=unknown', '10.1.2.3'],
    ['for=1.1.1.1, proto=https', '10.1.2.3'],
  ])('is found in Forwarded: %s', (forwarded, address) => {
    const request = { ...from('10.1.2.3'), headers: { forwarded } } as IncomingMessage;
    expect(clientIp(request)).toBe(address);
    expect(createClientIp([])(request)).toBe('10.1.2.3');
  });

  it('is taken from X-Forwarded-For if both headers are present, because a client may have written the other', () => {
    const headers = { forwarded: 'for=2.2.2.2', 'x-forwarded-for': '1.1.1.1' };
    expect(clientIp({ ...from('10.1.2.3'), headers } as unknown as IncomingMessage)).toBe('1.1.1.1');
  });

  it.each([`,${' '.repeat(15_000)}"`, `"${' '.repeat(15_000)}`, `[${'a'.repeat(15_000)}`, `${'1.'.repeat(7_500)}x`])(
    'is searched quickly in malformed headers',
    (written) => {
      const before = process.cpuUsage();
      for (const header of ['x-forwarded-for', 'forwarded'])
        clientIp({ ...from('10.1.2.3'), headers: { [header]: `for=${written}` } } as unknown as IncomingMessage);
      clientIp(from('10.1.2.3', written));
      expect(process.cpuUsage(before).user).toBeLessThan(50_000);
    },
  );

  it('is never a forwarded one without trusted proxies', () => {
    expect(createClientIp([])(from('127.0.0.1', '1.2.3.4'))).toBe('127.0.0.1');
  });
});
