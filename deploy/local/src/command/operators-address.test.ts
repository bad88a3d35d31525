import { operatorsAddress } from './operators-address.ts';

const machineToken = { file: '/data/keys/machine-token', token: 'secret' };

describe('the address for operators', () => {
  it('has the token of this machine behind the #, at a terminal', () => {
    const address = operatorsAddress('http://127.0.0.1:4000', machineToken, { isTerminal: true });
    expect(address).toBe('http://127.0.0.1:4000/#/operations?token=secret');
    const { pathname, search } = new URL(address);
    expect(pathname + search).toBe('/');
  });

  it.each([
    ['elsewhere', machineToken, false, 'http://127.0.0.1:4000'],
    ['where it does not count', machineToken, true, 'http://192.0.2.7:4000'],
    ['where there is a backup token', undefined, true, 'http://127.0.0.1:4000'],
  ])('does not have it %s', (_where, given, isTerminal, url) => {
    const address = operatorsAddress(url, given, { isTerminal });
    expect(address).toContain(url);
    expect(address).not.toContain('secret');
  });
});
