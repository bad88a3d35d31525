import { createSigningKey, signAccessToken } from '@taskmesh/identity';
import { importJWK, type CryptoKey } from 'jose';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** Somebody whose changes are listened to. */
export interface User {
  id: string;
  token: string;
}

const LIFETIME_S = 3_600;

export type Users = Awaited<ReturnType<typeof createUsers>>;

/** Signs tokens with a key that the platforms are given: thousands of sign-ups would be thousands of password hashes. */
export async function createUsers(keysFile: string) {
  const kid = 'bench';
  const jwk = await createSigningKey(kid);
  writeFileSync(keysFile, JSON.stringify({ keys: [jwk] }), { mode: 0o600 });
  const privateKey = (await importJWK(jwk, 'ES256')) as CryptoKey; // a private JWK gives a key, not bytes

  const createUser = async (): Promise<User> => {
    const id = randomUUID();
    const iat = Math.floor(Date.now() / 1000);
    const claims = { userId: id, sub: id, email: `${id}@bench.example`, iat, exp: iat + LIFETIME_S };
    const token = await signAccessToken({ ...claims, sid: randomUUID(), jti: randomUUID() }, { kid, privateKey });
    return { id, token };
  };
  return {
    /** Of platforms that take their tokens. */
    settings: { ACCESS_TOKEN_KEYS_FILE: keysFile },
    create: (count: number) => Promise.all(Array.from({ length: count }, createUser)),
  };
}
