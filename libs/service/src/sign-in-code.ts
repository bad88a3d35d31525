import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';

/** Takes the same time wherever they differ; it reveals only the length. */
export function isSameSecret(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Long enough to open an address that was just printed. */
const LIFE_MS = 10 * 60_000;

const fileOf = (tokenFile: string) => `${tokenFile}-code`;

/**
 * Makes a short-lived code that can be exchanged once for the token in this file, to be part of an address, which browsers
 * record. It replaces the previous code.
 */
export function issueSignInCode(tokenFile: string, now: number): string {
  const file = fileOf(tokenFile);
  const code = `${randomBytes(32).toString('base64url')}.${now + LIFE_MS}`;
  rmSync(`${file}.new`, { force: true }); // whose mode would stay
  writeFileSync(`${file}.new`, `${code}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return code;
}

/** Whether the code may be exchanged for the token in this file: true once, among all callers in all processes. */
export function takeSignInCode(tokenFile: string, code: string, now: number): boolean {
  const file = fileOf(tokenFile);
  try {
    const issued = readFileSync(file, 'utf8').trim();
    if (!isSameSecret(code, issued)) return false;
    unlinkSync(file); // fails for all but one
    return now < Number(issued.split('.')[1]);
  } catch {
    return false;
  }
}
