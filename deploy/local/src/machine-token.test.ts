import { makeTempDir } from '@taskmesh/testing';
import { redeemSignInCode } from '@taskmesh/service';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureMachineToken, operatorsAddress, type MachineToken } from './machine-token.ts';

let dir = '';
beforeEach(() => {
  dir = makeTempDir();
});
const modeOf = (file: string) => statSync(file).mode & 0o777;

describe('the token of this machine', () => {
  it('is created once, readable only by its owner', () => {
    const keys = join(dir, 'keys');
    const made = ensureMachineToken(keys);
    expect(made.token).toMatch(/^[\w-]{43}$/);
    expect(readFileSync(made.file, 'utf8').trim()).toBe(made.token);
    expect([modeOf(made.file), modeOf(keys)]).toEqual([0o600, 0o700]);
    expect(ensureMachineToken(keys)).toEqual(made);
    expect(readdirSync(keys)).toEqual(['machine-token']);
  });

  it.each([0o640, 0o604, 0o620])('is created again if others could read or write it: %o', (mode) => {
    const made = ensureMachineToken(dir);
    chmodSync(made.file, mode);
    const other = ensureMachineToken(dir);
    expect(other.token).not.toBe(made.token);
    expect(modeOf(other.file)).toBe(0o600);
  });

  it.each(['', 'short', 'x'.repeat(43) + '\n' + 'y'.repeat(43)])(
    'is created again if the file contains none: %j',
    (text) => {
      const { file } = ensureMachineToken(dir);
      writeFileSync(file, text);
      expect(ensureMachineToken(dir).token).toMatch(/^[\w-]{43}$/);
    },
  );

  it('is never read from a link to a file of others, and never written to it', () => {
    const { file } = ensureMachineToken(dir);
    const theirs = join(dir, 'theirs');
    const content = `${'x'.repeat(43)}\n`;
    writeFileSync(theirs, content, { mode: 0o644 });
    rmSync(file);
    symlinkSync(theirs, file);
    const made = ensureMachineToken(dir);
    expect(made.token).not.toBe('x'.repeat(43));
    expect(readFileSync(theirs, 'utf8')).toBe(content);
    expect(modeOf(made.file)).toBe(0o600);
  });

  it('leaves no partial file where it cannot be stored', () => {
    mkdirSync(join(dir, 'machine-token'));
    expect(() => ensureMachineToken(dir)).toThrow();
    expect(readdirSync(dir)).toEqual(['machine-token']);
  });

  it('does not inherit the file mode that a killed start left behind', () => {
    writeFileSync(join(dir, 'machine-token.new'), 'half', { mode: 0o644 });
    expect(modeOf(ensureMachineToken(dir).file)).toBe(0o600);
  });
});

describe('the address for operators', () => {
  let machineToken: MachineToken;
  beforeEach(() => {
    machineToken = ensureMachineToken(dir);
  });

  it('contains a code for the token of this machine after the #, in a terminal', () => {
    const text = operatorsAddress('http://127.0.0.1:4000', machineToken, { isTerminal: true });
    const [address = ''] = text.split(' ');
    const { pathname, search, hash } = new URL(address);
    expect(pathname + search).toBe('/');
    const [path, query] = hash.split('?');
    expect(path).toBe('#/operations');
    expect(redeemSignInCode(machineToken.file, new URLSearchParams(query).get('code') ?? '', Date.now())).toBe(true);
    expect(text).not.toContain(machineToken.token);
    expect(text).toContain(machineToken.file);
  });

  it('names only the file where no code can be stored, as on a full disk', () => {
    mkdirSync(`${machineToken.file}-code.new`);
    const text = operatorsAddress('http://127.0.0.1:4000', machineToken, { isTerminal: true });
    expect(text).toBe(`http://127.0.0.1:4000/#/operations (requires the token in ${machineToken.file})`);
  });

  it.each([
    ['outside a terminal', true, false, 'http://127.0.0.1:4000'],
    ['where the token is not valid', true, true, 'http://192.0.2.7:4000'],
    ['if there is a backup token', false, true, 'http://127.0.0.1:4000'],
  ])('contains no code %s', (_where, hasToken, isTerminal, url) => {
    const address = operatorsAddress(url, hasToken ? machineToken : undefined, { isTerminal });
    expect(address).toContain(url);
    expect(address).not.toContain('code=');
    expect(address).not.toContain(machineToken.token);
    expect(readdirSync(dir)).toEqual(['machine-token']);
  });
});
