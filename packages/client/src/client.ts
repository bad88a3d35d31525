import { createSocketFeed } from './feed/graphql-ws.ts';
import { createSseFeed } from './feed/sse.ts';
import { createPost, readRestFailure, type Post } from './http.ts';
import { createLiveTasks, type LiveTasks, type LiveTasksOptions } from './list/live-tasks.ts';
import type { Task } from './list/shape.ts';
import { runExclusively } from './locks.ts';
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
import { createMemoryStorage, waitForStorage, type Storage } from './storage.ts';
import { toTaskmeshError, type TaskmeshError } from './errors.ts';
import { realTime, type Time } from './time.ts';
import { createWriteQueue } from './writes/write-queue.ts';
import { localIdOf, newKey } from './writes/write.ts';

export interface ClientOptions {
  /** The gateway's URL, without a path. In pages that it serves: `location.origin`. */
  url: string;
  /** Stores tokens and pending writes: `localStorage`, or anything with its three functions. @default memory */
  storage?: Storage | undefined;
  /**
   * The transport of the change feed. `sse` works through proxies without WebSocket support, but needs a connection for each list.
   * @default 'graphql-ws', or 'sse' where there is no WebSocket, as in Node 20
   */
  transport?: 'graphql-ws' | 'sse' | undefined;
  /** How many writes may wait for a response; further ones are rejected with QUEUE_FULL. @default 100 */
  maxPendingWrites?: number | undefined;
  /** A query or mutation that takes longer is given up. @default 30_000 */
  timeoutMs?: number | undefined;
  fetch?: typeof fetch | undefined;
  WebSocket?: typeof WebSocket | undefined;
  time?: Time | undefined;
}

export interface WriteOptions {
  /** The version that the task must still have; otherwise the write is undone and fails with PRECONDITION_FAILED. */
  ifVersion?: number | undefined;
}

export interface FetchOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** A write that an earlier page queued and the server has rejected. The code that requested it no longer runs. */
export interface RefusedWrite {
  kind: 'create' | 'update' | 'delete';
  /** The task's id, or the client's local id if the task was not created. */
  taskId: string;
  /** The values that were not written. */
  input: UpdateTaskInput;
  error: TaskmeshError;
}

export interface Client {
  /** The signed-in user; null if no one is signed in, undefined until the storage has been read. */
  user(): User | null | undefined;
  /** Calls `listener` whenever somebody signs in or out. */
  onUser(listener: () => void): () => void;
  signUp(input: SignUpInput): Promise<User>;
  signIn(input: LoginInput): Promise<User>;
  /** The name of the sign-in provider; null if there is none. */
  signInProvider(): Promise<string | null>;
  /**
   * Resolves with the URL to navigate to. The provider sends the browser back to `returnTo`, a path on the gateway, with a
   * fragment for `readSignInAnswer`. `storage` must outlive the page.
   */
  beginProviderSignIn(returnTo?: string): Promise<string>;
  /** @throws TaskmeshError LINK_REQUIRED if the account's password is also needed */
  signInWithCode(code: string, password?: string): Promise<User>;
  /** Links the identity to the signed-in user's account. */
  linkIdentity(code: string, password: string): Promise<LinkedIdentityFieldsFragment>;
  /**
   * Discards the tokens and the pending writes, here at once and in the storage. Pending writes are rejected with SIGNED_OUT.
   * @throws TaskmeshError STORAGE when the storage does not respond
   */
  signOut(): Promise<void>;
  requestPasswordReset(email: string): Promise<void>;
  resetPassword(input: ResetPasswordInput): Promise<void>;
  /** Needs either the account's password or its signed-in user. @throws TaskmeshError */
  confirmEmailChange(token: string, password?: string): Promise<void>;
  changeName(name: string): Promise<User>;
  /** Runs an operation as the signed-in user: a generated document or your own text. @throws TaskmeshError */
  request: Post;
  /** Requests a path of the REST API, such as `/api/auth/export`, as the signed-in user. @throws TaskmeshError unless the response is ok */
  fetch(path: string, init?: FetchOptions): Promise<Response>;
  liveTasks(options?: LiveTasksOptions): LiveTasks;
  /**
   * Lists show the task at once. Resolves with the task as stored by the server, which may have to wait for a connection.
   * @throws TaskmeshError when the server rejects it; lists then no longer show it
   */
  createTask(input: CreateTaskInput): Promise<Task>;
  /** Like `createTask`. Also accepts a task that the server has not created yet. */
  updateTask(id: string, input: UpdateTaskInput, options?: WriteOptions): Promise<Task>;
  /** Returns the server's id of a task that this client has created, and any other id unchanged. */
  idOf(id: string): string;
  /** Like `updateTask`. */
  deleteTask(id: string, options?: WriteOptions): Promise<void>;
  /** Calls `listener` for each rejected write that an earlier page left behind, also for those before the first listener. */
  onRefused(listener: (write: RefusedWrite) => void): () => void;
  /** The number of writes that the server has not confirmed or rejected yet. */
  pendingWrites(): number;
  /** Whether pending writes are stored, and so outlive this page. Of several pages that share a storage, only the first stores them. */
  keepsWrites(): boolean;
  /** Stops sending; pending writes stay in the storage. A list stops with its last listener. */
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
      await session.signOut().finally(() => waitForStorage(writes.stored(), time));
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
        if (!path.startsWith('/')) throw new TypeError('The path must start with /.'); // or the token could go to another host
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
      const { task } = await writes.add({ ...started, kind: 'create', taskId: localIdOf(started.key), input });
      return task as Task; // only a deletion returns no task
    },
    async updateTask(taskId, input, { ifVersion } = {}) {
      return (await writes.add({ ...begin(), kind: 'update', taskId, input, ifVersion })).task as Task;
    },
    idOf: writes.idOf,
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
    keepsWrites: writes.isStored,
    close() {
      stopWaking();
      writes.close();
      session.close();
    },
  };
}

/** Where the platform has no `online` event, retries simply wait for their full pause. */
function onOnline(listener: () => void): () => void {
  const { addEventListener, removeEventListener } = globalThis as Partial<Pick<EventTarget, keyof EventTarget>>;
  addEventListener?.call(globalThis, 'online', listener);
  return () => removeEventListener?.call(globalThis, 'online', listener);
}

/** Acquires a lock. Resolves with the function that releases it. */
function own(name: string): Promise<() => void> {
  return new Promise((resolve) => {
    void runExclusively(name, () => new Promise<void>(resolve));
  });
}
