import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { ConfigError, isObject, readEnv, setting, type Env } from '@taskmesh/service';
import { createPrivateKey, createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
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
 * Reads the JWK set, of ES256 keys that all have a `kid`, from the file that the variable `name` names.
 * @throws ConfigError
 */
export const readKeySetFile = (env: Env, name: string): KeySet =>
  readJsonFile(env, name, 'JWK set of ES256 keys', (value) => isKeySet(value) && value);

/** Reads the private ES256 key, a JWK, from the file that the variable `name` names. @throws ConfigError */
export const readSigningKeyFile = (env: Env, name: string): JWK =>
  readJsonFile(env, name, 'private ES256 JWK', (value) => isPrivateKey(value) && value);

function readJsonFile<Value>(env: Env, name: string, what: string, read: (value: unknown) => Value | false): Value {
  const file = String(readEnv(z.object({ [name]: setting.text() }), env)[name]);
  try {
    const value = read(JSON.parse(readFileSync(file, 'utf8')));
    if (value) return value;
  } catch {
    // reported below
  }
  const shown = existsSync(file) ? JSON.stringify(file) : 'not shown'; // a key itself may have been pasted
  throw new ConfigError([`${name} must name a readable ${what} (is: ${shown})`]);
}

/** Whether it is a private ES256 key with a `kid`. */
export const isPrivateKey = (value: unknown): value is JWK & { kid: string } => isKeyBy(createPrivateKey, value);

function isKeyBy(parse: (key: JsonWebKeyInput) => KeyObject, value: unknown): value is JWK & { kid: string } {
  if (!isObject(value) || typeof value.kid !== 'string' || value.kid === '') return false;
  try {
    return parse({ key: value, format: 'jwk' }).asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

/** Whether it is a JWK set of ES256 keys that all have a `kid`. */
export function isKeySet(value: unknown): value is KeySet {
  return (
    isObject(value) &&
    Array.isArray(value.keys) &&
    value.keys.length > 0 &&
    value.keys.every((key) => isKeyBy(createPublicKey, key))
  );
}
