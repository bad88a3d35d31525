import { randomBytes } from 'node:crypto';

/** argon2id with OWASP's parameters: 19 MiB, two passes, one lane. (2 is `Algorithm.Argon2id`, a const enum.) */
export const PARAMETERS = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const { memoryCost, timeCost, parallelism } = PARAMETERS;
const PREFIX = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`;

/** Whether new hashes are made with the same parameters. */
export function isCurrent(passwordHash: string): boolean {
  return passwordHash.startsWith(PREFIX);
}

/** A random hash that no password is known to match, and that takes as long to verify as any. */
export function dummyHash(): string {
  const random = (bytes: number) => randomBytes(bytes).toString('base64').replaceAll('=', '');
  return `${PREFIX}${random(16)}$${random(32)}`;
}
