import { notFound, unauthenticated } from '@taskmesh/contracts';
import {
  createSigningKey,
  hashPersonalToken,
  newPersonalToken,
  publicKeys,
  signAccessToken,
  type AccessTokenClaims,
  type Identity,
  type TokenScope,
} from '@taskmesh/identity';
import { type EndedSession, type KnownToken, requireUser, type SubgraphContext } from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import { importJWK, type CryptoKey, type JWK } from 'jose';
import { randomUUID } from 'node:crypto';
import { createFakeSubgraph } from './fake-subgraph.ts';

const noProvider = () => Promise.reject(notFound('There is no provider.'));

/** An auth service in memory, with real tokens. */
export async function createFakeAuth(log: Log) {
  let key = await createSigningKey('key-1');
  let keys = [key];
  const ended: EndedSession[] = [];
  const callers: Identity[] = [];
  const personalTokens = new Map<string, KnownToken>();
  let keyCalls = 0;
  let failure: Error | undefined;

  /** A token for a user; `claims` override those of a valid one. */
  const token = async (userId: string, options: { claims?: Partial<AccessTokenClaims>; key?: JWK } = {}) => {
    const { claims = {}, key: signing = key } = options;
    const nowS = Math.floor(Date.now() / 1000);
    const good = {
      userId,
      email: `${userId}@example.com`,
      iat: nowS,
      exp: nowS + 3_600,
      sub: userId,
      sid: randomUUID(),
      jti: randomUUID(),
    };
    const privateKey = (await importJWK(signing, 'ES256')) as CryptoKey; // elliptic-curve JWKs become CryptoKeys
    return signAccessToken({ ...good, ...claims }, { kid: signing.kid ?? '', privateKey });
  };

  const personalToken = (userId: string, scope: TokenScope) => {
    const [token, id, nowS] = [newPersonalToken(), randomUUID(), Math.floor(Date.now() / 1000)];
    const expiresAt = nowS + 300 * 86_400; // beyond the range of a timer
    const known = { id, scope, userId, email: `${userId}@example.com`, createdAt: nowS, expiresAt };
    personalTokens.set(hashPersonalToken(token), known);
    return { token, id };
  };

  const end = (sessionId: string) => {
    const session = { sequence: ended.length + 1, sessionId, until: Math.floor(Date.now() / 1000) + 3_600 };
    ended.push(session);
    return session;
  };

  const userOf = (id: string) => ({
    __typename: 'User',
    id,
    email: `${id}@example.com`,
    name: `Name of ${id}`,
    emailConfirmedAt: '2026-11-20T10:00:00.000Z',
  });

  const endOwn = (ctx: SubgraphContext) => {
    ctx.extensions.endedSessions = [end(requireUser(ctx.identity).sessionId)];
    return true;
  };

  const resolvers = {
    Query: {
      me: (_: unknown, __: unknown, ctx: SubgraphContext) => {
        callers.push(ctx.identity);
        return userOf(requireUser(ctx.identity).userId);
      },
    },
    User: {
      async __resolveReference({ id }: { id: string }) {
        if (id.startsWith('e')) throw unauthenticated('The account no longer exists.');
        return id.startsWith('f') ? null : userOf(id);
      },
    },
    Mutation: {
      login: async (_: unknown, { input }: { input: { email: string; password: string } }, ctx: SubgraphContext) => {
        callers.push(ctx.identity);
        if (input.password !== 'right password') throw unauthenticated('Wrong e-mail or password.');
        const sessionId = randomUUID();
        ctx.extensions.session = { userId: input.email, sessionId };
        return {
          accessToken: await token(input.email, { claims: { sid: sessionId } }),
          refreshToken: 'refresh',
          expiresIn: 3_600,
          user: userOf(input.email),
        };
      },
      logout: (_: unknown, __: unknown, ctx: SubgraphContext) => endOwn(ctx),
      resetPassword: (_: unknown, __: unknown, ctx: SubgraphContext) => endOwn(ctx),
      // Every refresh token has been used before.
      refreshSession: (_: unknown, __: unknown, ctx: SubgraphContext) => {
        endOwn(ctx);
        throw unauthenticated('The refresh token does not count.');
      },
    },
  };

  return {
    subgraph: createFakeSubgraph('auth', resolvers, log),
    internal: {
      async endedSessions(after: number) {
        if (failure) throw failure;
        return { last: ended.length, sessions: ended.filter(({ sequence }) => sequence > after) };
      },
      noteSessionUses: async () => undefined,
      async findPersonalToken(hash: string) {
        if (failure) throw failure;
        return personalTokens.get(hash) ?? null;
      },
      async accessTokenKeys() {
        keyCalls += 1;
        if (failure) throw failure;
        return publicKeys({ keys });
      },
    },
    signIn: { begin: noProvider, complete: noProvider },
    ...{ token, personalToken, end },
    /** The callers, call by call. */
    callers,
    keyCalls: () => keyCalls,
    /** Makes all internal calls fail with this error, or work again. */
    failInternal: (error: Error | undefined) => void (failure = error),
    async rotate() {
      key = await createSigningKey(`key-${keys.length + 1}`);
      keys = [key, ...keys];
    },
    /** Removes every key except the signing one. */
    retire: () => void (keys = [key]),
  };
}
