import { createSocketLimits } from './socket-limits.ts';

describe('limits of sockets', () => {
  it('gives a place back once, however often it is given back', () => {
    const limits = createSocketLimits({ perUser: 2, perIp: 1 });
    const first = limits.takeUser('ada');
    expect(limits.takeUser('ada')).toBeDefined();
    expect(limits.takeUser('ada')).toBeUndefined();
    expect(limits.takeUser('bob')).toBeDefined();
    first?.();
    first?.();
    expect(limits.takeUser('ada')).toBeDefined();
    expect(limits.takeUser('ada')).toBeUndefined();
  });

  it('counts all addresses of one IPv6 network as one client', () => {
    const limits = createSocketLimits({ perUser: 1, perIp: 2 });
    const first = limits.takeIp('2001:db8:1:2::1');
    expect(limits.takeIp('2001:db8:1:2:ffff::2')).toBeDefined();
    expect(limits.takeIp('2001:db8:1:2::3')).toBeUndefined();
    expect(limits.takeIp('2001:db8:1:3::3')).toBeDefined();
    first?.();
    expect(limits.takeIp('2001:db8:1:2::3')).toBeDefined();
  });
});
