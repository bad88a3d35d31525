import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';

/** Compares in constant time: the duration reveals only the length. */
export function isSameSecret(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Long enough to open a URL that was just printed. */
const LIFE_MS = 10 * 60_000;

const fileOf = (tokenFile: string) => `${tokenFile}-code`;

/**
 * Issues a short-lived code that can be exchanged once for the token in this file. A URL can contain the code, but not the
 * token, because browsers record URLs. The code replaces the previous one.
 */
export function issueSignInCode(tokenFile: string, now: number): string {
  const file = fileOf(tokenFile);
  const code = `${randomBytes(32).toString('base64url')}.${now + LIFE_MS}`;
  rmSync(`${file}.new`, { force: true }); // an existing file would keep its mode
  writeFileSync(`${file}.new`, `${code}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return code;
}

/** Whether the code may be exchanged for the token in this file: true only once, across all processes. */
export function redeemSignInCode(tokenFile: string, code: string, now: number): boolean {
  const file = fileOf(tokenFile);
  try {
    const issued = readFileSync(file, 'utf8').trim();
    if (!isSameSecret(code, issued)) return false;
    unlinkSync(file); // succeeds for only one caller
    return now < Number(issued.split('.')[1]);
  } catch {
    return false;
  }
}
