import { errorCode, errorMessage } from '@taskmesh/contracts/error-details';
import { createSigningKey, isKeySet, isPrivateKey, type KeySet, publicKeys } from '@taskmesh/identity';
import { ensureWritableDirectory, parseJson, ConfigError, createPeriodic, type Log } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, rm, writeFile, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { importJWK, type CryptoKey } from 'jose';

/**
 * Parses a key file: a JWK set of ES256 keys, each with a unique `kid`, the first one private.
 * @throws Error whose message states the problem but contains no part of the keys
 */
async function parseKeys(text: string) {
  const set = parseJson(text);
  if (set === undefined) throw new Error('it is not JSON');
  if (!isKeySet(set)) throw new Error('it is not a JWK set of EC P-256 keys, each with a kid');
  const [first] = set.keys;
  if (!isPrivateKey(first)) throw new Error('its first key, the one that signs, is not a private key');
  if (new Set(set.keys.map(({ kid }) => kid)).size < set.keys.length)
    throw new Error('two of its keys have the same kid');
  const privateKey = (await importJWK(first, 'ES256')) as CryptoKey; // as for every elliptic-curve JWK
  return { signing: { kid: first.kid, privateKey }, verifying: publicKeys(set) };
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
 * is logged, and the keys stay as they are. Polling the content is cheap, and notices changes that file events and
 * modification times miss (mounted secrets, two changes within a tick).
 */
export function createKeyRing({ file, create, log }: KeyRingOptions) {
  let text = '';
  let current: Awaited<ReturnType<typeof parseKeys>> | undefined;
  let loggedProblem = '';

  const read = async () => {
    const content = await readFile(file, 'utf8');
    if (content === text) return;
    current = await parseKeys(content);
    text = content;
    log.info({ kids: current.verifying.keys.map(({ kid }) => kid) }, 'access token keys loaded');
  };

  const reload = async () => {
    try {
      await read();
      loggedProblem = '';
    } catch (error) {
      const message = errorMessage(error);
      if (message !== loggedProblem)
        log.error({ file, reason: message }, 'access token keys are not usable; keeping the previous ones');
      loggedProblem = message;
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
          `ACCESS_TOKEN_KEYS_FILE names no usable access token keys: ${errorCode(cause) || errorMessage(cause)}`,
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
