import { makeTempDir } from '@taskmesh/testing';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { issueSignInCode, redeemSignInCode } from './sign-in-code.ts';

const NOW = Date.parse('2026-11-24T10:00:00Z');
const MINUTE = 60_000;

let dir: string;
let file: string;
beforeEach(() => {
  dir = makeTempDir();
  file = join(dir, 'machine-token');
});

describe('a code that stands for the token', () => {
  it('is valid for ten minutes', () => {
    expect(redeemSignInCode(file, issueSignInCode(file, NOW), NOW + 10 * MINUTE - 1)).toBe(true);
    expect(redeemSignInCode(file, issueSignInCode(file, NOW), NOW + 10 * MINUTE)).toBe(false);
    const [secret, until] = issueSignInCode(file, NOW).split('.');
    expect(redeemSignInCode(file, `${secret}.${Number(until) + MINUTE}`, NOW)).toBe(false);
  });

  it('invalidates the previous one, and is not used up by wrong guesses', () => {
    const [former, code] = [issueSignInCode(file, NOW), issueSignInCode(file, NOW)];
    for (const wrong of [former, '', 'wrong', `${code}x`, code.slice(1), code.toUpperCase()])
      expect([wrong, redeemSignInCode(file, wrong, NOW)]).toEqual([wrong, false]);
    expect(redeemSignInCode(file, code, NOW)).toBe(true);
  });

  it('is readable only by its owner, and does not exist before it is issued', () => {
    expect(redeemSignInCode(file, '', NOW)).toBe(false);
    const code = issueSignInCode(file, NOW);
    const [name = ''] = readdirSync(dir);
    expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dir, name), 'utf8')).toBe(`${code}\n`);
  });
});
