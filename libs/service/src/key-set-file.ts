import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, type Env } from './config.ts';

const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })).min(1) });

/** A JWK set (RFC 7517, section 5) whose keys all have a `kid`. */
export type NamedKeySet = z.output<typeof keySet>;

/**
 * Reads the JWK set from the file that the variable `name` names. Without the variable the set is empty; the settings
 * check whether it is required.
 * @throws ConfigError when the file is missing or is no JWK set
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
