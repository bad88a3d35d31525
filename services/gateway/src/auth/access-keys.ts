import type { KeySet } from '@taskmesh/identity';
import type { AuthInternal } from '@taskmesh/internal-api';
import { createPeriodic, type Clock, type Log } from '@taskmesh/service';
import { importJWK, type JWTVerifyGetKey, type JWK, type ResolvedKey } from 'jose';

/** With the second in which auth reads its file: a removed key opens nothing after ten. */
const REFRESH_EVERY_MS = 8_000;
const RETRY = { firstMs: 500, longestMs: 500 };
/** An unknown key id may ask for the keys anew this often: forged ones must not become auth's load. */
const UNKNOWN_KEY_EVERY_MS = 1_000;

/** A key that verifies: the same object for as long as auth has that key. */
export type VerifyingKey = ResolvedKey['key'];

/** auth's public keys. While auth is away the last good set stands. */
export interface AccessKeys {
  /** What `/.well-known/jwks.json` shows; undefined before the first load. */
  current(): KeySet | undefined;
  getKey: JWTVerifyGetKey;
  /** Whether what this key has verified still counts. */
  isCurrent(key: VerifyingKey): boolean;
  /** Calls back each time that keys are gone; returns how to end that. */
  onRemoved(listener: () => void): () => void;
  start(): void;
  stop(): Promise<void>;
}

export function createAccessKeys({
  auth,
  clock,
  log,
}: {
  auth: Pick<AuthInternal, 'accessTokenKeys'>;
  clock: Clock;
  log: Log;
}): AccessKeys {
  let set: KeySet | undefined;
  let byId = new Map<string, KnownKey>();
  let current = new Set<VerifyingKey>();
  let nextForUnknown = 0;
  const listeners = new Set<() => void>();

  const load = async () => {
    const fresh = await auth.accessTokenKeys();
    const imported = new Map<string, KnownKey>();
    for (const jwk of fresh.keys) if (jwk.kid) imported.set(jwk.kid, await known(jwk, byId.get(jwk.kid)));
    const former = current;
    set = fresh;
    byId = imported;
    current = new Set([...imported.values()].map(({ key }) => key));
    if ([...former].some((key) => !current.has(key))) for (const listener of listeners) listener();
  };

  const poll = createPeriodic({
    everyMs: REFRESH_EVERY_MS,
    retry: RETRY,
    task: load,
    what: 'the keys of access tokens',
    log,
  });

  return {
    current: () => set,
    async getKey({ kid = '' }) {
      const known = byId.get(kid);
      if (known) return known.key;
      if (clock.now() >= nextForUnknown) {
        nextForUnknown = clock.now() + UNKNOWN_KEY_EVERY_MS;
        await poll.now();
      }
      const added = byId.get(kid);
      if (!added) throw new Error('unknown key id');
      return added.key;
    },
    isCurrent: (key) => current.has(key),
    onRemoved(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: () => poll.start(),
    stop: () => poll.stop(),
  };
}

interface KnownKey {
  jwk: JWK;
  key: VerifyingKey;
}

/** Another key under the id of a former one is another key. */
async function known(jwk: JWK, former: KnownKey | undefined): Promise<KnownKey> {
  if (former && former.jwk.x === jwk.x && former.jwk.y === jwk.y) return former;
  return { jwk, key: await importJWK(jwk, 'ES256') };
}
