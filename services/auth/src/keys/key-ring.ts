import { errorMessage } from '@taskmesh/contracts/error-details';
import { publicKeys, type KeySet } from '@taskmesh/identity';
import { ConfigError, createPeriodic, type Log, type Service } from '@taskmesh/service';
import { importJWK, type CryptoKey } from 'jose';
import { readFile } from 'node:fs/promises';
import { ensureKeyFile, parseKeySet } from './key-file.ts';

export interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
}

/** The keys of access tokens that the file currently contains. */
export interface KeyRing extends Service {
  /** The first key of the file. */
  signingKey(): SigningKey;
  /** All public keys, for verifiers. */
  verifyingKeys(): KeySet;
  /** Reads the file now instead of within the next second. */
  reload(): Promise<void>;
}

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
export function createKeyRing({ file, create, log }: KeyRingOptions): KeyRing {
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
    signingKey: () => requireLoaded().signing,
    verifyingKeys: () => requireLoaded().verifying,
    reload,
  };
}

async function importSigningKey({ keys: [first] }: KeySet): Promise<SigningKey> {
  if (!first?.kid) throw new Error('it has no key that signs');
  const privateKey = await importJWK(first, 'ES256');
  if (privateKey instanceof Uint8Array) throw new Error('its first key is not an EC key');
  return { kid: first.kid, privateKey };
}
