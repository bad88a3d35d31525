import { unavailable } from '@taskmesh/contracts';
import type { KeySet } from '@taskmesh/identity';
import type { AuthInternal } from '@taskmesh/internal-api';
import { createPeriodic, type Log } from '@taskmesh/service';
import { importJWK, type JWK, type ResolvedKey } from 'jose';

/** auth notices a changed key file within a second, so a removed key is refused within ten seconds. */
const REFRESH_EVERY_MS = 8_000;
const RETRY = { firstMs: 500, maxMs: 500 };
/** Unknown key ids trigger reloads. Reloads are at least this far apart, so that forged ids cannot burden auth. */
const RELOAD_EVERY_MS = 100;

/** The imported key; the same object for as long as auth publishes that key. */
export type VerifyingKey = ResolvedKey['key'];

/** auth's public keys. While auth is unavailable, the last loaded set stays valid. */
export type AccessKeys = ReturnType<typeof createAccessKeys>;

export function createAccessKeys({ auth, log }: { auth: Pick<AuthInternal, 'accessTokenKeys'>; log: Log }) {
  let set: KeySet | undefined;
  let byId = new Map<string, KnownKey>();
  let current = new Set<VerifyingKey>();
  let nextReloadMs = 0;
  let nextReload: Promise<void> | undefined;
  let loads = 0;
  const listeners = new Set<() => void>();

  const load = async () => {
    loads += 1;
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

  /** Starts a new reload: one that is already in progress may miss the key that is needed. */
  const reload = async () => {
    const waitMs = nextReloadMs - performance.now();
    // Always yields, so that the caller has assigned `nextReload` before it is cleared.
    await (waitMs > 0 ? new Promise((resolve) => setTimeout(resolve, waitMs).unref()) : Promise.resolve());
    nextReload = undefined;
    nextReloadMs = performance.now() + RELOAD_EVERY_MS;
    const before = loads;
    await poll.now();
    if (loads === before) await poll.now(); // that call joined a load already in progress
  };

  return {
    /** The content of `/.well-known/jwks.json`; undefined before the first load. */
    current: () => set,
    async getKey({ kid = '' }) {
      const before = byId;
      if (!byId.has(kid) && kid !== '') await (nextReload ??= reload());
      const known = byId.get(kid);
      if (!known && kid !== '' && byId === before) throw unavailable(); // the reload failed
      if (!known) throw new Error('unknown key id');
      return known.key;
    },
    /** Whether tokens verified with this key are still valid. */
    isCurrent: (key: VerifyingKey) => current.has(key),
    /** Calls back whenever keys have been removed. Returns a function that unsubscribes. */
    onRemoved(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start: async () => poll.start(),
    stop: () => poll.stop(),
  };
}

interface KnownKey {
  jwk: JWK;
  key: VerifyingKey;
}

/** A different key under a known id is a new key. */
async function known(jwk: JWK, former: KnownKey | undefined): Promise<KnownKey> {
  if (former && former.jwk.x === jwk.x && former.jwk.y === jwk.y) return former;
  return { jwk, key: await importJWK(jwk, 'ES256') };
}
