import { knownSettings, type Env } from './config.ts';

/** Of 16 random bytes in hexadecimal digits. */
const SHORTEST = 32;

/** A sentence if the operators' token is too short for production. Call it after all settings have been read. */
export function shortTokens({ NODE_ENV, BACKUP_TOKEN: token }: Env): string[] {
  const isRead = knownSettings.has('BACKUP_TOKEN');
  if (NODE_ENV !== 'production' || !token || token.length >= SHORTEST || !isRead) return [];
  return [
    `BACKUP_TOKEN has fewer than ${SHORTEST} characters and might be guessed: make one of 32 random bytes (openssl rand -hex 32).`,
  ];
}
