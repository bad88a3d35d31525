import {
  AppError,
  badUserInput,
  conflict,
  notFound,
  unauthenticated,
  changeNameInput,
  codePoints,
  parseInput,
  signUpInput,
} from '@taskmesh/contracts';
import {
  createSigningKey,
  hashOfPersonalToken,
  newPersonalToken,
  publicKeys,
  signAccessToken,
} from '@taskmesh/identity';
import {
  type AuthInternal,
  type AuthSignIn,
  type RequestOrigin,
  type EndedSession,
  type KnownToken,
  requireSession,
  requireUser,
  type Subgraph,
  type SubgraphContext,
} from '@taskmesh/internal-api';
import type { Log } from '@taskmesh/service';
import { importJWK, type CryptoKey } from 'jose';
import { randomUUID } from 'node:crypto';
import { createFakeSubgraph } from '../fakes/fake-subgraph.ts';

interface Account {
  id: string;
  email: string;
  name: string;
  password: string;
  emailConfirmedAt: string;
}

type Input<Fields> = { input: Fields };

/** An auth service in memory, with as much as REST needs. */
export interface FakeAuth {
  subgraph: Subgraph;
  internal: AuthInternal;
  signIn: AuthSignIn;
  /** What the provider's part was asked. */
  signIns: { input: object; origin: RequestOrigin }[];
  /** Thrown by the next call. */
  failNext(error: Error): void;
  /** Addresses with an account for which a recovery mail was requested. */
  mails: string[];
  accounts(): number;
  /** A refresh token as a GraphQL session of this account would have it. */
  refreshTokenFor(email: string): string;
  /** How many refresh tokens were selected in the graph. */
  refreshTokensSelected(): number;
}

/** The length of every user's audit trail. */
export const TRAIL_LENGTH = 1_203;

/** What a browser has while it is at the provider, and what it comes back with. */
export const BINDING = 'state.nonce.verifier';
export const SIGN_IN_CODE = 'code-of-the-provider';
/** One whose address has an account. */
export const LINKING_CODE = 'code-of-an-account';

/** The one token that a recovery mail has. */
export const RESET_TOKEN = 'reset-token';

export async function createFakeAuth(log: Log): Promise<FakeAuth> {
  const accounts = new Map<string, Account>();
  const tokens = new Map<string, KnownToken & { name: string }>();
  const refreshTokens = new Map<string, string>();
  const living = new Map<string, { userId: string; createdAt: string; client: string | null; ip: string | null }>();
  const ended: EndedSession[] = [];
  const mails: string[] = [];
  const signIns: FakeAuth['signIns'] = [];
  const identities = new Map<
    string,
    { userId: string; issuer: string; email: string; createdAt: string; lastUsedAt: string }
  >();
  let refreshTokensSelected = 0;
  const jwk = await createSigningKey('test');
  const key = { kid: 'test', privateKey: (await importJWK(jwk, 'ES256')) as CryptoKey }; // an EC key is never a byte array
  let failure: Error | undefined;
  /** Who asked for another address last. */
  let changing = '';

  const fail = () => {
    const error = failure;
    failure = undefined;
    if (error) throw error;
  };

  const refreshTokenFor = (email: string) => {
    const token = `refresh-${randomUUID()}`;
    refreshTokens.set(token, email.toLowerCase());
    return token;
  };

  const sessionOf = async (account: Account, { extensions, identity }: SubgraphContext) => {
    const sid = randomUUID();
    const nowS = Math.floor(Date.now() / 1000);
    const { id: userId, email } = account;
    const { ip = null, client = null } = identity as { ip?: string; client?: string }; // of whoever signs in
    living.set(sid, { userId, createdAt: new Date().toISOString(), ip, client });
    extensions.session = { userId, sessionId: sid };
    const claims = { userId, email, iat: nowS, exp: nowS + 3_600, sub: userId, sid, jti: randomUUID() };
    return {
      accessToken: await signAccessToken(claims, key),
      refreshToken: () => {
        refreshTokensSelected++;
        return refreshTokenFor(email);
      },
      expiresIn: 3_600,
      user: account,
    };
  };

  const end = (sessionIds: Iterable<string>, { extensions }: SubgraphContext) => {
    const until = Math.floor(Date.now() / 1000) + 3_600;
    const news = [...sessionIds].map((sessionId, index) => ({ sequence: ended.length + 1 + index, sessionId, until }));
    for (const { sessionId } of news) living.delete(sessionId);
    ended.push(...news);
    extensions.endedSessions = news;
  };

  const sessionsOf = (userId: string) => [...living].filter(([, session]) => session.userId === userId);

  const shownToken = ({ id, name, scope, createdAt, expiresAt }: KnownToken & { name: string }) => ({
    ...{ id, name, scope: scope.toUpperCase(), lastUsedAt: null },
    createdAt: new Date(createdAt * 1000).toISOString(),
    expiresAt: new Date(expiresAt * 1000).toISOString(),
  });

  const accountOf = (userId: string) => {
    const account = [...accounts.values()].find(({ id }) => id === userId);
    if (!account) throw unauthenticated();
    return account;
  };

  const provePassword = (userId: string, path: string, password: string) => {
    if (accountOf(userId).password !== password) throw badUserInput([{ path, message: 'The password is wrong.' }]);
  };

  const requirePassword = (path: string, password: string) => {
    const length = codePoints(password);
    if (length < 8 || length > 128 || password.trim() === '')
      throw badUserInput([{ path, message: 'password must have 8 to 128 characters.' }]);
  };

  const resolvers = {
    Query: {
      me: (_: unknown, __: unknown, { identity }: SubgraphContext) => {
        fail();
        return accountOf(requireUser(identity).userId);
      },
      auditEntries: (
        _: unknown,
        { first, after }: { first: number; after?: string | null },
        { identity }: SubgraphContext,
      ) => {
        fail();
        requireUser(identity);
        const below = after ? Number(after) : TRAIL_LENGTH + 1;
        return Array.from({ length: Math.min(first, below - 1) }, (_entry, index) => ({
          ...{ id: String(below - 1 - index), kind: 'session.opened', sessionId: null, ip: '192.0.2.7' },
          at: '2026-11-20T10:00:00.000Z',
        }));
      },
      signInProvider: () => {
        fail();
        return { name: 'Example' };
      },
      linkedIdentities: (_: unknown, __: unknown, { identity }: SubgraphContext) => {
        fail();
        const { userId } = requireUser(identity);
        return [...identities].flatMap(([id, each]) => (each.userId === userId ? [{ ...each, id }] : []));
      },
      personalTokens: (_: unknown, __: unknown, { identity }: SubgraphContext) => {
        fail();
        const { userId } = requireUser(identity);
        return [...tokens.values()].filter((token) => token.userId === userId).map(shownToken);
      },
      sessions: (_: unknown, __: unknown, { identity }: SubgraphContext) => {
        fail();
        const { userId, sessionId } = requireUser(identity);
        return sessionsOf(userId).map(([id, session]) => ({
          ...session,
          id,
          lastUsedAt: session.createdAt,
          current: id === sessionId,
        }));
      },
    },
    Mutation: {
      signUp: (
        _: unknown,
        { input }: Input<{ email: string; password: string; name: string }>,
        ctx: SubgraphContext,
      ) => {
        fail();
        const { email, password, name } = parseInput(signUpInput, input);
        requirePassword('password', password);
        if (accounts.has(email.toLowerCase())) throw conflict('This e-mail address has an account already.');
        const account = { id: randomUUID(), email, name, password, emailConfirmedAt: new Date().toISOString() };
        accounts.set(email.toLowerCase(), account);
        return sessionOf(account, ctx);
      },
      login: (_: unknown, { input }: Input<{ email: string; password: string }>, ctx: SubgraphContext) => {
        fail();
        const account = accounts.get(input.email.trim().toLowerCase());
        if (account?.password !== input.password) throw unauthenticated('Wrong e-mail or password.');
        return sessionOf(account, ctx);
      },
      signInWithCode: (
        _: unknown,
        { input }: Input<{ code: string; password?: string | null }>,
        ctx: SubgraphContext,
      ) => {
        fail();
        const [account] = accounts.values();
        if (!account || ![SIGN_IN_CODE, LINKING_CODE].includes(input.code))
          throw badUserInput([{ path: 'input.code', message: 'The code does not count.' }]);
        if (input.code === LINKING_CODE && input.password !== account.password)
          throw new AppError('LINK_REQUIRED', 'The password is needed.');
        return sessionOf(account, ctx);
      },
      linkIdentity: (_: unknown, { input }: Input<{ password: string }>, { identity }: SubgraphContext) => {
        fail();
        const { userId } = requireSession(identity);
        provePassword(userId, 'password', input.password);
        const [id, now] = [randomUUID(), new Date().toISOString()];
        const linked = { userId, issuer: 'https://login.example', email: accountOf(userId).email };
        identities.set(id, { ...linked, createdAt: now, lastUsedAt: now });
        return { ...identities.get(id), id };
      },
      unlinkIdentity: (_: unknown, { id }: { id: string }, { identity }: SubgraphContext) => {
        fail();
        if (identities.get(id)?.userId !== requireSession(identity).userId)
          throw notFound('There is no such identity.');
        identities.delete(id);
        return id;
      },
      refreshSession: (_: unknown, { refreshToken }: { refreshToken: string }, ctx: SubgraphContext) => {
        fail();
        const account = accounts.get(refreshTokens.get(refreshToken) ?? '');
        if (!account) throw unauthenticated('The refresh token does not count.');
        refreshTokens.delete(refreshToken);
        return sessionOf(account, ctx);
      },
      logout: (_: unknown, __: unknown, ctx: SubgraphContext) => {
        fail();
        const { sessionId } = requireSession(ctx.identity);
        if (!living.has(sessionId)) throw unauthenticated();
        end([sessionId], ctx);
        return true;
      },
      changeName: (_: unknown, { name }: { name: string }, { identity }: SubgraphContext) => {
        fail();
        return Object.assign(accountOf(requireUser(identity).userId), parseInput(changeNameInput, { name }));
      },
      changePassword: (
        _: unknown,
        { input }: Input<{ currentPassword: string; newPassword: string }>,
        ctx: SubgraphContext,
      ) => {
        fail();
        const { userId, sessionId } = requireSession(ctx.identity);
        requirePassword('newPassword', input.newPassword);
        provePassword(userId, 'currentPassword', input.currentPassword);
        accountOf(userId).password = input.newPassword;
        end(
          sessionsOf(userId).flatMap(([id]) => (id === sessionId ? [] : [id])),
          ctx,
        );
        return true;
      },
      requestEmailChange: (_: unknown, { input }: Input<{ email: string; password: string }>, ctx: SubgraphContext) => {
        fail();
        const { userId } = requireSession(ctx.identity);
        provePassword(userId, 'password', input.password);
        changing = userId;
        return true;
      },
      confirmEmailChange: (
        _: unknown,
        { token, password }: { token: string; password?: string | null },
        { identity }: SubgraphContext,
      ) => {
        fail();
        if (token !== RESET_TOKEN) throw badUserInput([{ path: 'token', message: 'The token does not count.' }]);
        if (password) provePassword(changing, 'password', password);
        else requireSession(identity);
        return true;
      },
      deleteAccount: (_: unknown, { input }: Input<{ password: string }>, ctx: SubgraphContext) => {
        fail();
        const { userId } = requireSession(ctx.identity);
        provePassword(userId, 'password', input.password);
        accounts.delete(accountOf(userId).email.toLowerCase());
        end(
          sessionsOf(userId).map(([id]) => id),
          ctx,
        );
        return true;
      },
      createPersonalToken: (
        _: unknown,
        { input }: Input<{ name: string; scope: 'READ' | 'WRITE'; expiresAt: string }>,
        { identity }: SubgraphContext,
      ) => {
        fail();
        const { userId } = requireSession(identity);
        const token = newPersonalToken();
        const secondsOf = (ms: number) => Math.floor(ms / 1000);
        const times = { createdAt: secondsOf(Date.now()), expiresAt: secondsOf(Date.parse(input.expiresAt)) };
        const scope = input.scope === 'READ' ? ('read' as const) : ('write' as const);
        const known = { id: randomUUID(), name: input.name, scope, userId, email: accountOf(userId).email, ...times };
        tokens.set(hashOfPersonalToken(token), known);
        return { token, personalToken: shownToken(known) };
      },
      endPersonalToken: (_: unknown, { id }: { id: string }, ctx: SubgraphContext) => {
        fail();
        const { userId } = requireSession(ctx.identity);
        const found = [...tokens].find(([, token]) => token.id === id && token.userId === userId);
        if (!found) throw notFound('There is no such token.');
        tokens.delete(found[0]);
        end([id], ctx);
        return id;
      },
      endSession: (_: unknown, { id }: { id: string }, ctx: SubgraphContext) => {
        fail();
        if (living.get(id)?.userId !== requireSession(ctx.identity).userId) throw notFound('There is no such session.');
        end([id], ctx);
        return id;
      },
      endOtherSessions: (_: unknown, __: unknown, ctx: SubgraphContext) => {
        fail();
        const { userId, sessionId } = requireSession(ctx.identity);
        const others = sessionsOf(userId).flatMap(([id]) => (id === sessionId ? [] : [id]));
        end(others, ctx);
        return others.length;
      },
      requestPasswordReset: (_: unknown, { email }: { email: string }) => {
        fail();
        if (accounts.has(email.toLowerCase())) mails.push(email);
        return true;
      },
      resetPassword: (_: unknown, { input }: Input<{ token: string; newPassword: string }>, ctx: SubgraphContext) => {
        fail();
        if (input.token !== RESET_TOKEN) throw badUserInput([{ path: 'token', message: 'The token does not count.' }]);
        requirePassword('newPassword', input.newPassword);
        end([...living.keys()], ctx);
        return true;
      },
    },
  };

  return {
    subgraph: createFakeSubgraph('auth', resolvers, log),
    internal: {
      endedSessions: async (after) => ({ last: ended.length, sessions: ended.slice(after) }),
      noteSessionUses: async () => undefined,
      findPersonalToken: async (hash) => tokens.get(hash) ?? null,
      accessTokenKeys: async () => publicKeys({ keys: [jwk] }),
    },
    signIn: {
      async begin(input, origin) {
        fail();
        signIns.push({ input, origin });
        return { location: 'https://login.example/authorize?state=state', binding: BINDING };
      },
      async complete(input, origin) {
        fail();
        signIns.push({ input, origin });
        if (input.binding !== BINDING) throw badUserInput([{ path: 'state', message: 'It was not begun here.' }]);
        return { location: `/tasks#sign_in_code=${SIGN_IN_CODE}` };
      },
    },
    signIns,
    mails,
    accounts: () => accounts.size,
    refreshTokenFor,
    refreshTokensSelected: () => refreshTokensSelected,
    failNext: (error) => {
      failure = error;
    },
  };
}
