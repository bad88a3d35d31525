import { errorCode } from '@taskmesh/contracts/error-details';
import { createSigningKey, type KeySet } from '@taskmesh/identity';
import { ensureWritableDirectory, parseJson } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';

const coordinate = z.string().regex(/^[\w-]{43}$/);
const key = z.looseObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  kid: z.string().min(1),
  x: coordinate,
  y: coordinate,
  d: coordinate.optional(),
});
const keySet = z.object({ keys: z.array(key).min(1) });

/**
 * Parses a key file: a JWK set of ES256 keys, each with a unique `kid`, the first one private.
 * @throws Error whose message says what is wrong, but nothing of the keys
 */
export function parseKeySet(text: string): KeySet {
  const json = parseJson(text);
  if (json === undefined) throw new Error('it is not JSON');
  const parsed = keySet.safeParse(json);
  if (!parsed.success) throw new Error('it is not a JWK set of EC P-256 keys, each with a kid');
  const { keys } = parsed.data;
  if (keys[0]?.d === undefined) throw new Error('its first key, the one that signs, is not a private key');
  if (new Set(keys.map(({ kid }) => kid)).size < keys.length) throw new Error('two of its keys have the same kid');
  return { keys };
}

/** Creates a missing key file, readable only by its owner. If several processes try, the first one wins. */
export async function ensureKeyFile(file: string): Promise<void> {
  if (existsSync(file)) return;
  ensureWritableDirectory('DATA_DIR', dirname(file), 0o700);
  const fresh = `${file}.${randomUUID()}`;
  const keys: KeySet = { keys: [await createSigningKey(`access-${randomUUID()}`)] };
  try {
    await writeFile(fresh, JSON.stringify(keys, undefined, 2), { mode: 0o600, flush: true });
    await link(fresh, file); // atomic, and never replaces an existing file
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(fresh, { force: true });
  }
}
