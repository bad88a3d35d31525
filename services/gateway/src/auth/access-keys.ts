import type { KeySet } from '@taskmesh/identity';
import type { AuthInternal } from '@taskmesh/internal-api';
import type { Clock, Log } from '@taskmesh/service';
import { importJWK, type CryptoKey, type JWTVerifyGetKey } from 'jose';
import { createPoll } from './poll.ts';

const REFRESH_EVERY_MS = 10_000;
/** An unknown key id may ask for the keys anew this often: forged ones must not become auth's load. */
const UNKNOWN_KEY_EVERY_MS = 1_000;

/** auth's public keys. While auth is away the last good set stands. */
export interface AccessKeys {
  /** What `/.well-known/jwks.json` shows; undefined before the first load. */
  current(): KeySet | undefined;
  getKey: JWTVerifyGetKey;
  start(): void;
  stop(): Promise<void>;
}

export function createAccessKeys({ auth, clock, log }: { auth: AuthInternal; clock: Clock; log: Log }): AccessKeys {
  let set: KeySet | undefined;
  let byId = new Map<string, CryptoKey | Uint8Array>();
  let nextForUnknown = 0;

  const load = async () => {
    const fresh = await auth.accessTokenKeys();
    const imported = new Map<string, CryptoKey | Uint8Array>();
    for (const key of fresh.keys) if (key.kid) imported.set(key.kid, await importJWK(key, 'ES256'));
    set = fresh;
    byId = imported;
  };

  const poll = createPoll({ everyMs: REFRESH_EVERY_MS, task: load, what: 'the keys of access tokens', log });

  return {
    current: () => set,
    async getKey({ kid = '' }) {
      const known = byId.get(kid);
      if (known) return known;
      if (clock.now() >= nextForUnknown) {
        nextForUnknown = clock.now() + UNKNOWN_KEY_EVERY_MS;
        await poll.now();
      }
      const added = byId.get(kid);
      if (!added) throw new Error('unknown key id');
      return added;
    },
    start: () => poll.start(),
    stop: () => poll.stop(),
  };
}
