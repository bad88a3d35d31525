import { generateKeyPair, jwtVerify, SignJWT } from 'jose';

const LIFETIME_S = 3_600;
const REMEMBERED = 10_000;

export type Tokens = Awaited<ReturnType<typeof createTokens>>;

export async function createTokens() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const checked = new Map<string, { userId: string; exp: number }>();
  return {
    sign: (userId: string, email: string) =>
      new SignJWT({ userId, email })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
        .setIssuedAt()
        .setExpirationTime(`${LIFETIME_S}s`)
        .sign(privateKey),
    /** The user of a valid token. A token that was checked before costs a look into a map. */
    async userOf(token: string): Promise<string | undefined> {
      const known = checked.get(token);
      if (known) return known.exp * 1000 > Date.now() ? known.userId : undefined;
      const verified = await jwtVerify<{ userId: string; exp: number }>(token, publicKey).catch(() => undefined);
      if (!verified) return undefined;
      const { userId, exp } = verified.payload;
      if (checked.size >= REMEMBERED) checked.clear();
      checked.set(token, { userId, exp });
      return userId;
    },
  };
}
