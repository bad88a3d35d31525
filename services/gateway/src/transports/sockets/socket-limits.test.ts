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

  it.each(['takeIp', 'takeRefusal'] as const)('bounds what all networks of one IPv6 site have: %s', (take) => {
    const limits = createSocketLimits({ perUser: 1, perIp: 100 });
    const ofSite = (site: number) =>
      Array.from({ length: 1_000 }, (_, at) => limits[take](`2001:db8:${site}:${(at % 100).toString(16)}::1`));
    const first = ofSite(1).filter((release) => release !== undefined);
    expect(first).toHaveLength(400);
    expect(ofSite(2).filter((release) => release !== undefined)).toHaveLength(400);
    first[0]?.();
    expect(limits[take]('2001:db8:1:ffff::1')).toBeDefined();
    expect(limits[take]('2001:db8:1:ffff::1')).toBeUndefined();
  });
});
