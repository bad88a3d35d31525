import { knownSettings, type Env } from './config.ts';

const TOKENS = ['BACKUP_TOKEN'];
/** Of 16 random bytes in hexadecimal digits. */
const SHORTEST = 32;

/**
 * A sentence for each token of operators that is too short for production. Call it after all settings have been read.
 */
export function shortTokens(env: Env): string[] {
  if (env.NODE_ENV !== 'production') return [];
  return TOKENS.flatMap((name) => {
    const token = env[name];
    if (!token || token.length >= SHORTEST || !knownSettings.has(name)) return [];
    return [
      `${name} has fewer than ${SHORTEST} characters and might be guessed: make one of 32 random bytes (openssl rand -hex 32).`,
    ];
  });
}
