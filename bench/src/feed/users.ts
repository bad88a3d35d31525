import { createSigningKey, signAccessToken } from '@taskmesh/identity';
import { importJWK, type CryptoKey } from 'jose';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../run/benchmark.ts';

/** A user who listens to their changes. */
export interface User {
  id: string;
  token: string;
}

export type CreateUsers = (count: number) => Promise<User[]>;

const LIFETIME_S = 3_600;

/** Signs tokens with a key that the platforms accept, because thousands of sign-ups would need thousands of password hashes. */
export async function prepareUsers(dataDir: string, env: Environment, sockets: number) {
  const kid = 'bench';
  const jwk = await createSigningKey(kid);
  const keysFile = join(dataDir, 'keys.json');
  writeFileSync(keysFile, JSON.stringify({ keys: [jwk] }), { mode: 0o600 });
  const privateKey = (await importJWK(jwk, 'ES256')) as CryptoKey; // a private JWK gives a key, not bytes
  const createUser = async (): Promise<User> => {
    const id = randomUUID();
    const iat = Math.floor(Date.now() / 1000);
    const claims = { userId: id, sub: id, email: `${id}@bench.example`, iat, exp: iat + LIFETIME_S };
    const token = await signAccessToken({ ...claims, sid: randomUUID(), jti: randomUUID() }, { kid, privateKey });
    return { id, token };
  };
  const createUsers: CreateUsers = (count) => Promise.all(Array.from({ length: count }, createUser));
  const maxSockets = String(2 * sockets); // they all come from one address
  const limits = { REALTIME_MAX_SOCKETS_PER_IP: maxSockets, REALTIME_MAX_SOCKETS_PER_USER: maxSockets };
  /** `env` is for platforms that accept the tokens and that many sockets. */
  return { env: { ...env, ...limits, ACCESS_TOKEN_KEYS_FILE: keysFile }, createUsers };
}
