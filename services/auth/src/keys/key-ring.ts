import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { createSigningKey, type KeySet, publicKeys } from '@taskmesh/identity';
import { ensureWritableDirectory, parseJson, ConfigError, createPeriodic, type Log } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm, writeFile, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { importJWK, type CryptoKey } from 'jose';

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
function parseKeySet(text: string): KeySet {
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
async function ensureKeyFile(file: string): Promise<void> {
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

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
}

/** The keys of access tokens that the file currently contains. */
export type KeyRing = ReturnType<typeof createKeyRing>;

export interface KeyRingOptions {
  file: string;
  /** Whether to create a missing file. */
  create: boolean;
  log: Log;
}

const POLL_MS = 1_000;

/**
 * Reads the file at the start, and again whenever its content changes. Invalid content makes the start fail; later it
 * is logged, and the keys stay as they are. Polls the content, which is cheap, and notices what file events and times
 * miss (mounted secrets, two changes within a tick).
 */
export function createKeyRing({ file, create, log }: KeyRingOptions) {
  let text = '';
  let current: { signing: SigningKey; verifying: KeySet } | undefined;
  let complaint = '';

  const read = async () => {
    const found = await readFile(file, 'utf8');
    if (found === text) return;
    const keys = parseKeySet(found);
    current = { signing: await importSigningKey(keys), verifying: publicKeys(keys) };
    text = found;
    log.info({ kids: keys.keys.map(({ kid }) => kid) }, 'access token keys loaded');
  };

  const reload = async () => {
    try {
      await read();
      complaint = '';
    } catch (error) {
      const message = errorMessage(error);
      if (message !== complaint)
        log.error({ file, reason: message }, 'access token keys not usable, the former ones stay');
      complaint = message;
    }
  };

  const polling = createPeriodic({ everyMs: POLL_MS, task: reload, what: 'the access token keys', log });

  const requireLoaded = () => {
    if (!current) throw new Error('The access token keys are not loaded yet.');
    return current;
  };

  return {
    async start() {
      if (create) await ensureKeyFile(file);
      await read().catch((cause: unknown) => {
        throw new ConfigError([
          `ACCESS_TOKEN_KEYS_FILE: the access token keys in ${file} cannot be used: ${errorMessage(cause)}`,
        ]);
      });
      polling.start({ afterPause: true });
    },
    stop: () => polling.stop(),
    /** The first key of the file. */
    signingKey: () => requireLoaded().signing,
    /** All public keys, for verifiers. */
    verifyingKeys: () => requireLoaded().verifying,
    /** Reads the file now instead of within the next second. */
    reload,
  };
}

async function importSigningKey({ keys: [first] }: KeySet): Promise<SigningKey> {
  if (!first?.kid) throw new Error('it has no key that signs');
  const privateKey = await importJWK(first, 'ES256');
  if (privateKey instanceof Uint8Array) throw new Error('its first key is not an EC key');
  return { kid: first.kid, privateKey };
}
