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
  /** A while before the access token expires: Unix milliseconds by this machine's clock. */
  refreshAt: number;
}

export interface Session {
  /** Who is signed in; null if nobody is, undefined until the storage has been read. */
  user(): User | null | undefined;
  /** Calls back whenever somebody signs in or out. Returns how to unsubscribe. */
  subscribe(listener: () => void): () => void;
  signUp(input: SignUpInput): Promise<User>;
  signIn(input: LoginInput): Promise<User>;
  signInWithCode(input: SignInWithCodeInput): Promise<User>;
  /** Works without a connection, too: this device forgets the session, which then expires on the server. */
  signOut(): Promise<void>;
  /** A token that is valid for a while; undefined when nobody is signed in. @throws TaskmeshError when it cannot be refreshed now */
  token(): Promise<string | undefined>;
  /** A token to replace `refused`; undefined when the session has ended. @throws TaskmeshError when that cannot be found out now */
  refresh(refused: string): Promise<string | undefined>;
  /** Changes the user's name, also in what is stored here. @throws TaskmeshError */
  changeName(name: string): Promise<User>;
  /** Runs `work` with a token, and once more with a new one if the first is refused. @throws TaskmeshError */
  asUser<Result>(work: (token: string) => Promise<Result>): Promise<Result>;
  /** Runs an operation as the user. @throws TaskmeshError */
  request: Post;
}

export interface SessionDeps {
  post: Post;
  storage: Storage;
  exclusively: Exclusively;
  time: Pick<Time, 'now'>;
}

const KEY = 'taskmesh.session';
/** The share of a token's lifetime after which it is refreshed. */
const GOOD_FOR = 0.9;
/** The server's errors when a session is over. */
const OVER = new Set(['UNAUTHENTICATED', 'BAD_USER_INPUT', 'NOT_FOUND', 'FORBIDDEN']);

export function createSession({ post, storage, exclusively, time }: SessionDeps): Session {
  const changes = createListeners<[]>();
  let tokens: Tokens | null | undefined;
  /** False while the storage could not take them: then they last as long as the page. */
  let isStored = true;

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

  /** Changes the storage and `tokens` together, one change at a time; not if `isStill` is false by then. */
  const change = (work: () => Promise<void>, isStill = () => true) =>
    exclusively(`${KEY}.change`, async () => {
      if (isStill()) await work();
    });
  /** What it replaces is used up by now, so that no page may find it any more. */
  const put = async (next: Tokens) => {
    try {
      await storage.setItem(KEY, JSON.stringify(next));
      isStored = true;
    } catch {
      isStored = false;
      await drop().catch(() => undefined);
    }
    take(next);
  };
  const drop = async () => {
    await storage.removeItem(KEY);
  };
  const keep = async (
    { accessToken, refreshToken, expiresIn, user }: SessionFieldsFragment,
    isStill?: () => boolean,
  ): Promise<void> => {
    const next = { user, accessToken, refreshToken, refreshAt: time.now() + expiresIn * 1_000 * GOOD_FOR };
    await change(() => put(next), isStill);
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
  const forget = (isStill?: () => boolean) => change(() => drop().finally(() => take(null)), isStill);

  /** Using a refresh token twice would end the session. So one page refreshes at a time, with the token that is stored by then. */
  const refreshAlone = async (refused: string): Promise<string | undefined> => {
    const mine = tokens;
    const stored = isStored || !mine ? await load() : mine;
    if (!mine || stored?.user.id !== mine.user.id) {
      take(stored); // another page has signed out, or somebody else in
      return undefined;
    }
    if (stored.accessToken !== refused && time.now() < stored.refreshAt) {
      take(stored);
      return stored.accessToken;
    }
    // Somebody may have signed out or in meanwhile.
    const isMine = () => tokens?.refreshToken === mine.refreshToken;
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
  /** On the server. It wants a token that is valid: whoever signs out after a night has none. */
  const end = async ({ accessToken, refreshToken }: Tokens) => {
    try {
      await post(LOGOUT, {}, { token: accessToken });
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      const { refreshSession } = await post(REFRESH_SESSION, { refreshToken });
      await post(LOGOUT, {}, { token: refreshSession.accessToken });
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
      if (!isUnauthenticated(error)) throw error;
      const again = await refresh(first);
      // A request of one user is never sent as another one.
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
      try {
        await forget();
      } finally {
        if (ended) await end(ended).catch(() => undefined);
      }
    },
    token,
    refresh,
    async changeName(name) {
      const { changeName: user } = await request(CHANGE_NAME, { name });
      await change(async () => {
        // Another page may have refreshed the tokens meanwhile: former ones would end the session.
        const latest = isStored ? await load() : tokens;
        if (latest && latest.user.id === user.id && tokens?.user.id === user.id) await put({ ...latest, user });
      });
      return user;
    },
    asUser,
    request,
  };
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof TaskmeshError && error.code === 'UNAUTHENTICATED';
}
