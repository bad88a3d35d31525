import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { ConfigError, isObject, readEnv, setting, type Env } from '@taskmesh/service';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A JWK set, as in RFC 7517 section 5. */
export interface KeySet {
  keys: JWK[];
}

/** `kid` identifies the key in every token that it signs. */
export async function createSigningKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'ES256', use: 'sig' };
}

export function publicKeys({ keys }: KeySet): KeySet {
  return { keys: keys.map(({ kty, crv, x, y, kid, alg, use }) => ({ kty, crv, x, y, kid, alg, use }) as JWK) };
}

/**
 * Reads the JWK set, of keys that all have a `kid`, from the file that the variable `name` names.
 * @throws ConfigError
 */
export function readKeySetFile(env: Env, name: string): KeySet {
  return readJsonFile(env, { name, what: 'JWK set', read: (value) => isKeySet(value) && value });
}

/** Reads the private JWK from the file that the variable `name` names. @throws ConfigError */
export function readSigningKeyFile(env: Env, name: string): JWK {
  return readJsonFile(env, { name, what: 'private JWK', read: (value) => isKey(value) && 'd' in value && value });
}

interface Wanted<Value> {
  name: string;
  what: string;
  read: (value: unknown) => Value | false;
}

function readJsonFile<Value>(env: Env, { name, what, read }: Wanted<Value>): Value {
  const file = String(readEnv(z.object({ [name]: setting.text() }), env)[name]);
  try {
    const value = read(JSON.parse(readFileSync(file, 'utf8')));
    if (value) return value;
  } catch {
    // said below
  }
  throw new ConfigError([`${name} must name a readable ${what} (is: ${JSON.stringify(file)})`]);
}

function isKey(value: unknown): value is JWK {
  return isObject(value) && typeof value.kty === 'string' && typeof value.kid === 'string';
}

function isKeySet(value: unknown): value is KeySet {
  return isObject(value) && Array.isArray(value.keys) && value.keys.length > 0 && value.keys.every(isKey);
}
