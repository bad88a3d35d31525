import { asTransient, TaskmeshError, toTaskmeshError } from './errors.ts';
import type { Post, PostOptions } from './http.ts';
import { createListeners } from './listeners.ts';
import type { Document } from './document.ts';
import { runExclusively } from './locks.ts';
import {
  CHANGE_NAME,
  LOGIN,
  LOGOUT,
  REFRESH_SESSION,
  SIGN_IN_WITH_CODE,
  SIGN_UP,
  type LoginInput,
  type SessionFieldsFragment,
  type SignInWithCodeInput,
  type SignUpInput,
} from './operations.generated.ts';
import { createOtherPages, type PageMessage } from './other-pages.ts';
import {
  isTokens,
  LOADING,
  nextSession,
  userIdOf,
  type SessionEvent,
  type SessionState,
  type Tokens,
  type User,
} from './session-state.ts';
import { changeStorage, nameOf, readJson, waitForStorage, type Storage } from './storage.ts';
import type { Time } from './time.ts';

export type { User };

export type Session = ReturnType<typeof createSession>;

export interface SessionDeps {
  post: Post;
  storage: Storage;
  time: Pick<Time, 'now' | 'after'>;
}

const KEY = 'taskmesh.session';
/** The key of the id of a sign-in whose session the server has ended. */
const ENDED = 'taskmesh.ended';
/** The share of a token's lifetime after which it is refreshed. */
const REFRESH_AT_SHARE = 0.9;
/** The server may take up to 15 s. Giving up earlier would leave its token used, and using it again ends the session. */
const REFRESH_TIMEOUT_MS = 20_000;
/** Errors with which the server reports that a session has ended. */
const OVER = new Set(['UNAUTHENTICATED', 'BAD_USER_INPUT']);

export function createSession({ post, storage, time }: SessionDeps) {
  const changes = createListeners<[]>();
  let state: SessionState = LOADING;

  const tokens = () => (state.kind === 'signed-in' ? state.tokens : undefined);
  /** What listeners are notified of. */
  const visible = () => [state.kind, stayId(), tokens()?.user.name].join();
  const stayId = () => state.stayId;
  const dispatch = (event: SessionEvent) => {
    const before = visible();
    state = nextSession(state, event);
    if (before !== visible()) changes.notify();
  };
  /** The stored session, which another page may have changed; this page's own if it could not be stored. */
  const current = async () => {
    if (state.kind === 'signed-in' && !state.isStored) return state.tokens;
    const stored = await readJson(storage, KEY, isTokens);
    return stored && Object.assign({ signInId: stored.user.id }, stored);
  };

  const check = async (message?: PageMessage) => dispatch({ ...message, kind: 'found', tokens: await current() });
  const find = (message?: PageMessage) => changeStorage(storage, () => check(message));
  const loaded = find().catch(() => dispatch({ kind: 'found', tokens: undefined }));
  const pages = createOtherPages(storage, (message) => void find(message).catch(() => undefined));

  /** Whether the stored session is this page's, or there is none. It may be another page's if ours could not be stored. */
  const isOurs = async () =>
    state.kind !== 'signed-in' || state.isStored || !(await readJson(storage, KEY, isTokens).catch(() => undefined));
  /** The previous tokens are used up, so they must not stay in the storage even if the new ones cannot be stored. */
  const put = async (next: Tokens, isSignIn = false) => {
    let isStored = isSignIn || (await isOurs());
    try {
      if (isSignIn) await storage.removeItem(ENDED);
      if (isStored) await storage.setItem(KEY, JSON.stringify(next));
    } catch {
      isStored = false;
      await drop().catch(() => undefined);
    }
    // A concurrent sign-out wins: it finds these tokens in the storage and ends their session.
    if (isSignIn || tokens()) dispatch({ kind: 'kept', tokens: next, isStored });
    pages.notify(isSignIn ? { signInId: next.signInId } : {});
  };
  const drop = async () => {
    if (await isOurs()) await storage.removeItem(KEY);
  };
  const tokensOf = ({ expiresIn, ...fields }: SessionFieldsFragment, signInId: string): Tokens => ({
    ...fields,
    signInId,
    refreshAt: time.now() + expiresIn * 1_000 * REFRESH_AT_SHARE,
  });
  /** After the server has ended their session, the same user continues it: pending writes stay. */
  const signInIdOf = async ({ id }: User) => {
    const read = async () => [(await current())?.signInId, (await storage.getItem(ENDED)) ?? ''];
    const known = await read().catch(() => []);
    return known.find((each) => userIdOf(each) === id) ?? `${id} ${time.now()}`;
  };
  const begin = async <Result, Input>(
    document: Document<Result, { input: Input }>,
    input: Input,
    sessionOf: (result: Result) => SessionFieldsFragment,
  ) => {
    await loaded;
    const fields = sessionOf(await post(document, { input }));
    await changeStorage(storage, async () => put(tokensOf(fields, await signInIdOf(fields.user)), true));
    return fields.user;
  };

  const postRefresh = (refreshToken: string) =>
    post(REFRESH_SESSION, { refreshToken }, { minTimeoutMs: REFRESH_TIMEOUT_MS });
  /** Using a refresh token twice would end the session. So one page refreshes at a time, with the token stored at that moment. */
  const refreshAlone = async (refused: string): Promise<string | undefined> => {
    const mine = tokens();
    const used = await current();
    if (!mine || used?.signInId !== mine.signInId) {
      dispatch({ kind: 'found', tokens: used }); // another page has signed out, or signed in another user
      return undefined;
    }
    if (used.accessToken !== refused && time.now() < used.refreshAt) {
      dispatch({ kind: 'found', tokens: used });
      return used.accessToken;
    }
    const refreshed = await postRefresh(used.refreshToken).catch((error: unknown) => {
      if (!OVER.has(toTaskmeshError(error).code)) throw asTransient(error);
      return undefined;
    });
    await changeStorage(storage, async () => {
      const now = await current();
      // Somebody may have signed in or out meanwhile, on any page.
      if (now?.refreshToken !== used.refreshToken) return dispatch({ kind: 'found', tokens: now });
      if (refreshed) return put(tokensOf(refreshed.refreshSession, used.signInId));
      const keep = async () => storage.setItem(ENDED, used.signInId);
      await keep().catch(() => undefined);
      return drop().finally(() => {
        dispatch({ kind: 'ended' });
        pages.notify({});
      });
    });
    return tokens()?.accessToken;
  };
  /** Ends the session on the server, which requires a valid token: refreshes an expired one first. */
  const end = async ({ accessToken, refreshToken }: Tokens) => {
    try {
      await post(LOGOUT, {}, { token: accessToken });
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      const { refreshSession } = await postRefresh(refreshToken);
      await post(LOGOUT, {}, { token: refreshSession.accessToken });
    }
  };
  /** A token to replace `refused`; undefined when the session has ended. @throws TaskmeshError when it cannot be refreshed now */
  const refresh = (refused: string) => runExclusively(`${nameOf(storage)}.refresh`, () => refreshAlone(refused));
  /** A token that does not expire soon, or cannot be refreshed now; undefined when no one is signed in. */
  const token = async () => {
    await loaded;
    const mine = tokens();
    if (!mine) return undefined;
    return time.now() < mine.refreshAt ? mine.accessToken : refresh(mine.accessToken).catch(() => mine.accessToken);
  };
  /** Runs `work` with a token, and once more with a new token if the first is rejected. @throws TaskmeshError */
  const asUser = async <Result>(work: (token: string) => Promise<Result>): Promise<Result> => {
    if (state === LOADING) await loaded; // otherwise the request belongs to the user who is signed in right now
    const callerId = stayId();
    const first = await token();
    if (first === undefined || stayId() !== callerId) throw new TaskmeshError('SIGNED_OUT', 'No one is signed in.');
    try {
      return await work(first);
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      const again = await refresh(first);
      // Never send one user's request as another user.
      if (again === undefined || stayId() !== callerId)
        throw new TaskmeshError('SIGNED_OUT', 'The session has ended.', { cause: error });
      return work(again);
    }
  };
  /** Runs an operation as the user. @throws TaskmeshError */
  const request = <Result, Variables>(
    document: Document<Result, Variables>,
    variables: Variables,
    options: Omit<PostOptions, 'token'> = {},
  ) => asUser((token) => post(document, variables, { ...options, token }));

  return {
    /** The signed-in user; null if no one is signed in, undefined until the storage has been read. */
    user: () => (state === LOADING ? undefined : (tokens()?.user ?? null)),
    /** Calls `listener` whenever somebody signs in or out. Returns a function that unsubscribes. */
    subscribe: changes.add,
    /** The id of the user's stay; undefined after a sign-out, on this or another page: none of their data may remain. */
    stayId,
    /** Reads the storage, which another page may just have changed. */
    check: () => check().catch(() => undefined),
    /** The session that is stored now. */
    stored: current,
    signUp: (input: SignUpInput): Promise<User> => begin(SIGN_UP, input, ({ signUp }) => signUp),
    signIn: (input: LoginInput): Promise<User> => begin(LOGIN, input, ({ login }) => login),
    signInWithCode: (input: SignInWithCodeInput) =>
      begin(SIGN_IN_WITH_CODE, input, ({ signInWithCode }) => signInWithCode),
    /**
     * Works offline, too: this page discards the session at once, and the server drops it when it expires.
     * @throws TaskmeshError STORAGE when the storage does not respond; rethrows errors of the storage
     */
    async signOut() {
      if (state === LOADING) await waitForStorage(loaded, time).catch(() => undefined);
      let ended = tokens();
      let left = ended?.signInId;
      // Before listeners are notified, so that their changes of the storage find no session.
      const dropped = changeStorage(storage, async () => {
        try {
          const now = await current().catch(() => ended);
          if (now?.signInId === left) {
            ended = now; // another page may have refreshed the tokens
            await drop();
          }
          left ??= (await storage.getItem(ENDED)) ?? undefined; // other pages may wait for its user
          await storage.removeItem(ENDED);
        } finally {
          pages.notify({ left });
        }
      });
      dispatch({ kind: 'left' });
      try {
        await waitForStorage(dropped, time);
      } finally {
        if (ended) await end(ended).catch(() => undefined);
      }
    },
    token,
    refresh,
    /** Changes the user's name on the server and in the stored session. @throws TaskmeshError */
    async changeName(name: string) {
      const { changeName: user } = await request(CHANGE_NAME, { name });
      await changeStorage(storage, async () => {
        // Another page may have refreshed the tokens meanwhile; storing the old ones would end the session.
        const latest = await current();
        if (latest?.user.id === user.id && tokens()?.user.id === user.id) await put({ ...latest, user });
      });
      return user;
    },
    asUser,
    request,
    /** Resolves once the storage has been read. */
    loaded,
    /** Stops listening to other pages. */
    close: pages.close,
  };
}

function isUnauthenticated(error: unknown): boolean {
  return toTaskmeshError(error).code === 'UNAUTHENTICATED';
}
