import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, type Env } from './config.ts';

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })).min(1) });

/** A JWK set (RFC 7517, section 5) whose keys all have a name. */
export type NamedKeySet = z.output<typeof keySet>;

/**
 * Reads the JWK set in the file that the variable `name` names. Without the variable the set is empty: that it is missing
 * is for the settings to tell.
 * @throws ConfigError when there is no such file, or something else in it
 */
export function readKeySetFile(env: Env, name: string): NamedKeySet {
  const file = env[name];
  if (!file) return { keys: [] };
  try {
    return keySet.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    throw new ConfigError([`${name} must name a readable JWK set (is: ${JSON.stringify(file)})`]);
  }
}
