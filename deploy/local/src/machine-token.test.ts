import { makeTempDir } from '@taskmesh/testing';
import { redeemSignInCode } from '@taskmesh/service';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureMachineToken, operatorsAddress, type MachineToken } from './machine-token.ts';

let dir = '';
beforeEach(() => void (dir = makeTempDir()));
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

  const contains = (text: string) => (file: string) => writeFileSync(file, text);
  it.each<[what: string, spoil: (file: string) => void]>([
    ['its group may read it', (file) => chmodSync(file, 0o640)],
    ['its group may write it', (file) => chmodSync(file, 0o620)],
    ['others may read it', (file) => chmodSync(file, 0o604)],
    ['it is empty', contains('')],
    ['it is short', contains('short')],
    ['there are two', contains(`${'x'.repeat(43)}\n${'y'.repeat(43)}`)],
    // Left behind by a killed start.
    ['half a file is there', (file) => (rmSync(file), writeFileSync(`${file}.new`, 'half', { mode: 0o644 }))],
  ])('is created again if %s', (_what, spoil) => {
    const made = ensureMachineToken(dir);
    spoil(made.file);
    const other = ensureMachineToken(dir);
    expect([other.token === made.token, modeOf(other.file)]).toEqual([false, 0o600]);
    expect(other.token).toMatch(/^[\w-]{43}$/);
  });

  it('leaves no partial file, and offers no code, where they cannot be stored, as on a full disk', () => {
    const { file, ...made } = ensureMachineToken(join(dir, 'keys'));
    mkdirSync(`${file}-code.new`);
    const text = operatorsAddress('http://127.0.0.1:4000', { file, ...made }, { isTerminal: true });
    expect(text).toBe(`http://127.0.0.1:4000/#/operations (requires the token in ${file})`);
    mkdirSync(join(dir, 'machine-token'));
    expect(() => ensureMachineToken(dir)).toThrow();
    expect(readdirSync(dir)).toEqual(['keys', 'machine-token']);
  });

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
});

describe('the address for operators', () => {
  let machineToken: MachineToken;
  beforeEach(() => void (machineToken = ensureMachineToken(dir)));

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
