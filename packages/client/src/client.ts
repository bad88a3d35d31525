import { createSocketFeed } from './feed/graphql-ws.ts';
import { createSseFeed } from './feed/sse.ts';
import { createPost, readRestFailure, type Post } from './http.ts';
import { createLiveTasks, type LiveTasks, type LiveTasksOptions } from './list/live-tasks.ts';
import type { Task } from './list/shape.ts';
import { exclusively } from './locks.ts';
import {
  CONFIRM_EMAIL_CHANGE,
  LINK_IDENTITY,
  REQUEST_PASSWORD_RESET,
  RESET_PASSWORD,
  SIGN_IN_PROVIDER,
  type CreateTaskInput,
  type LinkedIdentityFieldsFragment,
  type LoginInput,
  type ResetPasswordInput,
  type SignUpInput,
  type UpdateTaskInput,
} from './operations.generated.ts';
import { createProviderSignIn } from './provider-sign-in.ts';
import { createSession, type User } from './session.ts';
import { createMemoryStorage, storageInTime, type Storage } from './storage.ts';
import { toTaskmeshError, type TaskmeshError } from './errors.ts';
import { realTime, type Time } from './time.ts';
import { createWriteQueue } from './writes/write-queue.ts';
import { localIdOf, newKey } from './writes/write.ts';

export interface ClientOptions {
  /** The gateway's URL, without a path. In pages that it serves: `location.origin`. */
  url: string;
  /** Where tokens and waiting writes are kept: `localStorage`, or anything with its three functions. @default memory */
  storage?: Storage | undefined;
  /**
   * What carries the change feed. `sse` works through proxies without WebSocket support, but needs a connection for each list.
   * @default 'graphql-ws', or 'sse' where there is no WebSocket, as in Node 20
   */
  transport?: 'graphql-ws' | 'sse' | undefined;
  /** The most writes that wait for an answer; further ones are refused with QUEUE_FULL. @default 100 */
  maxPendingWrites?: number | undefined;
  /** A query or mutation that takes longer counts as lost. @default 30_000 */
  timeoutMs?: number | undefined;
  fetch?: typeof fetch | undefined;
  WebSocket?: typeof WebSocket | undefined;
  time?: Time | undefined;
}

export interface WriteOptions {
  /** Only if this is still the task's version; otherwise the write is undone and fails with PRECONDITION_FAILED. */
  ifVersion?: number | undefined;
}

export interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** A write of an earlier page that the server has refused; the code that asked for it is gone. */
export interface RefusedWrite {
  kind: 'create' | 'update' | 'delete';
  /** The task's id, or the client's own id of a task that was not created. */
  taskId: string;
  /** The values that the task did not get. */
  input: UpdateTaskInput;
  error: TaskmeshError;
}

export interface Client {
  /** Who is signed in; null if no one is, undefined until the storage has been read. */
  user(): User | null | undefined;
  /** Calls back whenever somebody signs in or out. */
  onUser(listener: () => void): () => void;
  signUp(input: SignUpInput): Promise<User>;
  signIn(input: LoginInput): Promise<User>;
  /** The name of the sign-in provider; null if there is none. */
  signInProvider(): Promise<string | null>;
  /**
   * Resolves with the address to navigate to. The browser comes back to `returnTo`, a path on the gateway, with what
   * `readSignInAnswer` reads. `storage` must outlive the page.
   */
  beginProviderSignIn(returnTo?: string): Promise<string>;
  /** @throws TaskmeshError LINK_REQUIRED if the account's password is needed as well */
  signInWithCode(code: string, password?: string): Promise<User>;
  /** Links the identity to the signed-in user's account. */
  linkIdentity(code: string, password: string): Promise<LinkedIdentityFieldsFragment>;
  /**
   * Forgets the tokens and the waiting writes, which are rejected with SIGNED_OUT: at once here, and in the storage.
   * @throws TaskmeshError STORAGE when the storage does not answer
   */
  signOut(): Promise<void>;
  requestPasswordReset(email: string): Promise<void>;
  resetPassword(input: ResetPasswordInput): Promise<void>;
  /** Without the account's password, its user must be signed in. @throws TaskmeshError */
  confirmEmailChange(token: string, password?: string): Promise<void>;
  changeName(name: string): Promise<User>;
  /** Runs an operation as the user: a generated one, or any text of your own. @throws TaskmeshError */
  request: Post;
  /** Requests a path of the REST API as the user, such as `/api/auth/export`. @throws TaskmeshError for any response that is not ok */
  fetch(path: string, init?: FetchOptions): Promise<Response>;
  liveTasks(options?: LiveTasksOptions): LiveTasks;
  /**
   * Lists show the task at once. Resolves with the server's version of it, which may take until there is a connection.
   * @throws TaskmeshError when the server refuses it, and lists no longer show it
   */
  createTask(input: CreateTaskInput): Promise<Task>;
  /** Like `createTask`. The task may be one that the server has not created yet. */
  updateTask(id: string, input: UpdateTaskInput, options?: WriteOptions): Promise<Task>;
  /** Like `updateTask`. */
  deleteTask(id: string, options?: WriteOptions): Promise<void>;
  /** Calls back for each refused write that an earlier page left behind. */
  onRefused(listener: (write: RefusedWrite) => void): () => void;
  /** How many writes the server has not answered yet. */
  pendingWrites(): number;
  /** Whether they outlive this page, as far as the storage does. Of several pages that share it, only the first one's do. */
  keepsWrites(): boolean;
  /** Stops sending; waiting writes stay in storage. Lists stop with their last listener. */
  close(): void;
}

export function createClient(options: ClientOptions): Client {
  const { storage = createMemoryStorage(), time = realTime, WebSocket = globalThis.WebSocket } = options;
  const { transport = WebSocket ? 'graphql-ws' : 'sse' } = options;
  const { maxPendingWrites: limit = 100, timeoutMs = 30_000 } = options;
  const origin = options.url.replace(/\/$/, '');
  const url = `${origin}/graphql`;
  const fetch: typeof globalThis.fetch = options.fetch ?? ((...args) => globalThis.fetch(...args));

  const post = createPost({ url, fetch, timeoutMs });
  const session = createSession({ post, storage, time });
  const provider = createProviderSignIn({ url: origin, storage });
  const { token } = session;
  const openFeed =
    transport === 'sse'
      ? createSseFeed({ url, token, fetch, time })
      : createSocketFeed({
          url,
          token,
          userId: () => session.user()?.id,
          WebSocket,
          time,
        });
  const writes = createWriteQueue({ session, storage, time, limit, own });
  const stopWaking = onOnline(writes.wake);
  const begin = () => ({ key: newKey(), queuedAt: time.now() });
  const present = (task: Task | null): Task => {
    if (!task) throw new Error('A write of a task gives one.');
    return task;
  };

  return {
    user: session.user,
    onUser: session.subscribe,
    signUp: session.signUp,
    signIn: session.signIn,
    async signInProvider() {
      return (await post(SIGN_IN_PROVIDER, {})).signInProvider?.name ?? null;
    },
    beginProviderSignIn: (returnTo = '/') => provider.begin(returnTo),
    async signInWithCode(code, password) {
      const user = await session.signInWithCode({ code, verifier: await provider.verifier(), password });
      await provider.forget();
      return user;
    },
    async linkIdentity(code, password) {
      const input = { code, verifier: await provider.verifier(), password };
      const { linkIdentity } = await session.request(LINK_IDENTITY, { input });
      await provider.forget();
      return linkIdentity;
    },
    async signOut() {
      await session.signOut().finally(() => storageInTime(writes.stored(), time));
    },
    async requestPasswordReset(email) {
      await post(REQUEST_PASSWORD_RESET, { email });
    },
    async resetPassword(input) {
      await post(RESET_PASSWORD, { input });
    },
    async confirmEmailChange(token, password) {
      const send = password === undefined ? session.request : post;
      await send(CONFIRM_EMAIL_CHANGE, { token, password });
    },
    changeName: session.changeName,
    request: session.request,
    fetch: (path, init = {}) =>
      session.asUser(async (token) => {
        const headers = { ...init.headers, authorization: `Bearer ${token}` };
        const response = await fetch(`${origin}${path}`, { ...init, headers }).catch((error: unknown) => {
          throw toTaskmeshError(error);
        });
        if (!response.ok) throw await readRestFailure(response);
        return response;
      }),
    liveTasks: (list = {}) => createLiveTasks(list, { session, writes, openFeed, time, onWake: onOnline }),
    async createTask(input) {
      const started = begin();
      return present((await writes.add({ ...started, kind: 'create', taskId: localIdOf(started.key), input })).task);
    },
    async updateTask(taskId, input, { ifVersion } = {}) {
      return present((await writes.add({ ...begin(), kind: 'update', taskId, input, ifVersion })).task);
    },
    async deleteTask(taskId, { ifVersion } = {}) {
      await writes.add({ ...begin(), kind: 'delete', taskId, ifVersion });
    },
    onRefused: (listener) =>
      writes.subscribe({
        onPending() {},
        onDone() {},
        onRefused: (write, error) =>
          listener({ kind: write.kind, taskId: write.taskId, input: 'input' in write ? write.input : {}, error }),
      }),
    pendingWrites: () => writes.pending().length,
    keepsWrites: writes.isKept,
    close() {
      stopWaking();
      writes.close();
      session.close();
    },
  };
}

/** Without this event, pauses simply take their time. */
function onOnline(listener: () => void): () => void {
  const { addEventListener, removeEventListener } = globalThis as Partial<Pick<EventTarget, keyof EventTarget>>;
  addEventListener?.call(globalThis, 'online', listener);
  return () => removeEventListener?.call(globalThis, 'online', listener);
}

/** Holds a lock until it is released. */
function own(name: string): Promise<() => void> {
  return new Promise((resolve) => {
    void exclusively(name, () => new Promise<void>((release) => resolve(release)));
  });
}
