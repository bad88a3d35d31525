import { TaskmeshError } from './errors.ts';
import type { Post, PostOptions } from './http.ts';
import { createListeners } from './listeners.ts';
import type { Document } from './document.ts';
import type { Exclusively } from './locks.ts';
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
  type UserFieldsFragment,
} from './operations.generated.ts';
import { readJson, type Storage } from './storage.ts';
import type { Time } from './time.ts';

export type User = UserFieldsFragment;

interface Tokens {
  user: User;
  accessToken: string;
  refreshToken: string;
  /** Unix milliseconds, by this machine's clock: a while before the access token expires. */
  refreshAt: number;
}

export interface Session {
  /** Who is signed in; undefined until storage was read, null for nobody. */
  user(): User | null | undefined;
  /** Calls at each change of who is signed in. The returned function takes that back. */
  subscribe(listener: () => void): () => void;
  signUp(input: SignUpInput): Promise<User>;
  signIn(input: LoginInput): Promise<User>;
  signInWithCode(input: SignInWithCodeInput): Promise<User>;
  /** Also when the server cannot be reached: its session then ends by itself, this device has forgotten it. */
  signOut(): Promise<void>;
  /** One that counts for a while yet, or undefined when nobody is signed in. @throws TaskmeshError when it cannot be refreshed now */
  token(): Promise<string | undefined>;
  /** Another one than `refused`, or undefined when the session has ended. @throws TaskmeshError when that cannot be known now */
  refresh(refused: string): Promise<string | undefined>;
  /** Changes the user's name, here as well. @throws TaskmeshError */
  changeName(name: string): Promise<User>;
  /** As the user: a token that is refused is refreshed once, and the work done once more. @throws TaskmeshError */
  asUser<Result>(work: (token: string) => Promise<Result>): Promise<Result>;
  /** An operation as the user. @throws TaskmeshError */
  request: Post;
}

export interface SessionDeps {
  post: Post;
  storage: Storage;
  exclusively: Exclusively;
  time: Pick<Time, 'now'>;
}

const KEY = 'taskmesh.session';
/** How much of a token's life passes before it is refreshed. */
const GOOD_FOR = 0.9;
/** What the server says when a session cannot be gone on with. */
const OVER = new Set(['UNAUTHENTICATED', 'BAD_USER_INPUT', 'NOT_FOUND', 'FORBIDDEN']);

export function createSession({ post, storage, exclusively, time }: SessionDeps): Session {
  const changes = createListeners<[]>();
  let tokens: Tokens | null | undefined;

  const take = (next: Tokens | null) => {
    const before = tokens;
    tokens = next;
    const isSame = before?.user.id === next?.user.id && before?.user.name === next?.user.name;
    if (before === undefined || !isSame) changes.tell();
  };
  const load = async () => (await readJson<Tokens>(storage, KEY)) ?? null;
  const loaded = load().then(
    (stored) => tokens === undefined && take(stored),
    () => tokens === undefined && take(null),
  );

  /** One after the other: what is stored and what is known here change as one, unless `isStill` says no by then. */
  const change = (work: () => Promise<void>, isStill = () => true) =>
    exclusively(`${KEY}.change`, async () => {
      if (isStill()) await work();
    });
  const keep = async (
    { accessToken, refreshToken, expiresIn, user }: SessionFieldsFragment,
    isStill?: () => boolean,
  ): Promise<void> => {
    const next = { user, accessToken, refreshToken, refreshAt: time.now() + expiresIn * 1_000 * GOOD_FOR };
    await change(async () => {
      await storage.setItem(KEY, JSON.stringify(next));
      take(next);
    }, isStill);
  };
  const begin = async <Result, Input>(
    document: Document<Result, { input: Input }>,
    input: Input,
    sessionOf: (result: Result) => SessionFieldsFragment,
  ) => {
    await loaded;
    const fields = sessionOf(await post(document, { input }));
    await keep(fields);
    return fields.user;
  };
  const forget = (isStill?: () => boolean) =>
    change(async () => {
      await storage.removeItem(KEY);
      take(null);
    }, isStill);

  /** A refresh token counts once: whoever uses it a second time ends the session. So one page at a time, with what is stored by then. */
  const refreshAlone = async (refused: string): Promise<string | undefined> => {
    const mine = tokens;
    const stored = await load();
    if (!mine || stored?.user.id !== mine.user.id) {
      take(stored); // another page has signed out, or somebody else in
      return undefined;
    }
    if (stored.accessToken !== refused) {
      take(stored);
      return stored.accessToken;
    }
    // Who has signed out or in meanwhile stays so.
    const isMine = () => tokens === mine;
    try {
      const { refreshSession } = await post(REFRESH_SESSION, { refreshToken: stored.refreshToken });
      await keep(refreshSession, isMine);
      return tokens?.accessToken;
    } catch (error) {
      if (!(error instanceof TaskmeshError) || !OVER.has(error.code)) throw error;
      await forget(isMine);
      return tokens?.accessToken;
    }
  };
  const refresh = (refused: string) => exclusively(`${KEY}.refresh`, () => refreshAlone(refused));
  const token = async () => {
    await loaded;
    if (!tokens) return undefined;
    const { accessToken, refreshAt } = tokens;
    return time.now() < refreshAt ? accessToken : refresh(accessToken);
  };
  const asUser = async <Result>(work: (token: string) => Promise<Result>): Promise<Result> => {
    if (tokens === undefined) await loaded; // otherwise whoever is signed in at this very moment asks
    const asked = tokens?.user.id;
    const first = await token();
    if (first === undefined || tokens?.user.id !== asked) throw new TaskmeshError('SIGNED_OUT', 'Nobody is signed in.');
    try {
      return await work(first);
    } catch (error) {
      if (!(error instanceof TaskmeshError) || error.code !== 'UNAUTHENTICATED') throw error;
      const again = await refresh(first);
      // What one user asked for is never sent as another one.
      if (again === undefined || tokens?.user.id !== asked)
        throw new TaskmeshError('SIGNED_OUT', 'The session has ended.', { cause: error });
      return work(again);
    }
  };
  const request = <Result, Variables>(
    document: Document<Result, Variables>,
    variables: Variables,
    options: Omit<PostOptions, 'token'> = {},
  ) => asUser((token) => post(document, variables, { ...options, token }));

  return {
    user: () => tokens && tokens.user,
    subscribe: changes.add,
    signUp: (input) => begin(SIGN_UP, input, ({ signUp }) => signUp),
    signIn: (input) => begin(LOGIN, input, ({ login }) => login),
    signInWithCode: (input) => begin(SIGN_IN_WITH_CODE, input, ({ signInWithCode }) => signInWithCode),
    async signOut() {
      await loaded;
      const ended = tokens;
      await forget();
      if (ended) await post(LOGOUT, {}, { token: ended.accessToken }).catch(() => undefined);
    },
    token,
    refresh,
    async changeName(name) {
      const { changeName: user } = await request(CHANGE_NAME, { name });
      await change(async () => {
        if (tokens?.user.id !== user.id) return;
        const next = { ...tokens, user };
        await storage.setItem(KEY, JSON.stringify(next));
        take(next);
      });
      return user;
    },
    asUser,
    request,
  };
}
