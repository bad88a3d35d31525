import { takeSignInCode } from '@taskmesh/service';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureMachineToken, type MachineToken } from './machine-token.ts';
import { operatorsAddress } from './machine-token.ts';

let dir: string;
let machineToken: MachineToken;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskmesh-address-'));
  machineToken = ensureMachineToken(dir);
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('the address for operators', () => {
  it('has a code for the token of this machine behind the #, at a terminal', () => {
    const text = operatorsAddress('http://127.0.0.1:4000', machineToken, { isTerminal: true });
    const [address = ''] = text.split(' ');
    const { pathname, search, hash } = new URL(address);
    expect(pathname + search).toBe('/');
    const [path, query] = hash.split('?');
    expect(path).toBe('#/operations');
    expect(takeSignInCode(machineToken.file, new URLSearchParams(query).get('code') ?? '', Date.now())).toBe(true);
    expect(text).not.toContain(machineToken.token);
    expect(text).toContain(machineToken.file);
  });

  it.each([
    ['elsewhere', true, false, 'http://127.0.0.1:4000'],
    ['where it does not count', true, true, 'http://192.0.2.7:4000'],
    ['where there is a backup token', false, true, 'http://127.0.0.1:4000'],
  ])('has none %s', (_where, hasToken, isTerminal, url) => {
    const address = operatorsAddress(url, hasToken ? machineToken : undefined, { isTerminal });
    expect(address).toContain(url);
    expect(address).not.toContain('code=');
    expect(address).not.toContain(machineToken.token);
    expect(readdirSync(dir)).toEqual(['machine-token']);
  });
});
