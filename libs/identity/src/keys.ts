import { exportJWK, generateKeyPair, type JWK } from 'jose';

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
