import { isPassing, TaskmeshError, toTaskmeshError } from '../errors.ts';
import { createListeners } from '../listeners.ts';
import type { Session } from '../session.ts';
import { changeStorage, nameOf, readJson, type Storage } from '../storage.ts';
import { backOffMs, createPause, type Time } from '../time.ts';
import { sendWrite } from './send-write.ts';
import { isLocal, isWrite, type Outcome, type Write } from './write.ts';

/** What lists are notified of. */
export interface WritesListener {
  /** The pending writes have changed. */
  onPending(): void;
  /** A write was done. Called just before it stops being pending. */
  onDone(write: Write, outcome: Outcome): void;
  /** A write that an earlier page left behind was refused. */
  onRefused?(write: Write, error: TaskmeshError): void;
}

/** The writes of the signed-in user that the server has not answered. They are sent one at a time, in order. */
export interface WriteQueue {
  pending(): readonly Write[];
  /** Whether the storage has them: of several pages that share it, only one's. */
  isKept(): boolean;
  subscribe(listener: WritesListener): () => void;
  /** Resolves when it is done. @throws TaskmeshError when it was refused and undone */
  add(write: Write): Promise<Outcome>;
  /** The feed has reported the write's change, so it is done, even if its response is an error or never comes. */
  confirm(key: string, outcome: Outcome): void;
  /** Sends nothing until the returned function is called, so that a list read meanwhile includes no unanswered write. */
  hold(): () => void;
  /** Resolves when the storage has what is pending. @throws what the storage does */
  stored(): Promise<void>;
  /** Ends a pause before the next attempt. */
  wake(): void;
  close(): void;
}

export interface QueueDeps {
  session: Pick<Session, 'user' | 'subscribe' | 'isLeft' | 'isStillOf' | 'request'>;
  storage: Storage;
  time: Time;
  /** The most writes that wait. */
  limit: number;
  /** Resolves once what is stored under this name belongs to this page alone, until the returned function is called. */
  own: (name: string) => Promise<() => void>;
}

interface Waiting {
  resolve: (outcome: Outcome) => void;
  reject: (error: TaskmeshError) => void;
}

/** The session has ended, or a fresh token does not count yet: none of both is the write's fault, which waits for its user. */
const LATER = new Set(['SIGNED_OUT', 'UNAUTHENTICATED']);

const keyOfUser = (userId: string) => `taskmesh.writes.${userId}`;

export function createWriteQueue({ session, storage, time, limit, own }: QueueDeps): WriteQueue {
  const listeners = createListeners<[tell: (listener: WritesListener) => void]>();
  const waiting = new Map<string, Waiting>();
  const pause = createPause(time);
  let writes: readonly Write[] = [];
  let userId: string | undefined;
  /** The server's ids of created tasks, by our own ids. */
  const created = new Map<string, string>();
  let giveBack: (() => void) | undefined;
  let isClosed = false;
  let isRunning = false;
  let holds = 0;
  let failures = 0;

  const set = (next: readonly Write[]) => {
    writes = next;
    listeners.tell((listener) => listener.onPending());
  };
  let storing = Promise.resolve();
  /** One at a time, so that the last one wins. */
  const store = () => (storing = storing.then(storeNow, storeNow));
  const storeNow = () =>
    changeStorage(storage, async () => {
      if (!giveBack || userId === undefined) return;
      const key = keyOfUser(userId);
      const isSession = await session.isStillOf(userId);
      // Without the session, the user may have signed out in another page: then nothing may come back.
      const kept = isSession ? writes : (await readWrites(storage, key)).filter(isPending);
      if (kept.length === 0) await storage.removeItem(key);
      else await storage.setItem(key, JSON.stringify(kept));
      if (kept.length < writes.length) throw new TaskmeshError('SIGNED_OUT', 'The session has ended.');
    });
  /** A write that stays in storage for too long is sent once more, which is harmless. */
  const storeLater = () => void store().catch(() => undefined);

  const finish = (write: Write) => {
    set(writes.filter(({ key }) => key !== write.key));
    storeLater();
    failures = 0;
    const found = waiting.get(write.key);
    waiting.delete(write.key);
    return found;
  };
  const done = (write: Write, outcome: Outcome) => {
    if (write.kind === 'create') created.set(write.taskId, outcome.id);
    writes = writes.map((each) =>
      each.taskId === write.taskId && each.key !== write.key ? rebase(each, outcome) : each,
    );
    listeners.tell((listener) => listener.onDone(write, outcome));
    finish(write)?.resolve(outcome);
  };
  const refuse = (write: Write, error: TaskmeshError) => {
    const waiter = finish(write);
    if (waiter) waiter.reject(error);
    else listeners.tell((listener) => listener.onRefused?.(write, error));
    if (write.kind !== 'create') return;
    const notCreated = new TaskmeshError('NOT_CREATED', 'The task was not created.', { cause: error });
    for (const each of writes.filter(({ taskId }) => taskId === write.taskId)) refuse(each, notCreated);
  };
  const isPending = (write: Write) => writes.some(({ key }) => key === write.key);

  /** @returns the pause before the next one, in ms */
  const sendFirst = async (write: Write): Promise<number> => {
    const wasSent = write.sentAt !== undefined;
    try {
      if (!wasSent) {
        write.sentAt = time.now();
        // After a crash, the next page must know that it may have been done.
        await store().catch((cause: unknown) => {
          if (cause instanceof TaskmeshError) throw cause;
          throw new TaskmeshError('STORAGE', 'The write cannot be kept.', { cause });
        });
        if (!isPending(write)) return 0; // taken back meanwhile, perhaps as another user has come
      }
      const outcome = await sendWrite(session.request, write, wasSent, time.now());
      if (isPending(write)) done(write, outcome);
      return 0;
    } catch (caught) {
      const error = toTaskmeshError(caught);
      if (!isPending(write)) return 0;
      if (LATER.has(error.code) && !wasSent && write.sentAt !== undefined) {
        delete write.sentAt; // it did not leave this device
        await store().catch(() => undefined);
      }
      if (isPassing(error) || LATER.has(error.code)) return Math.max(error.retryAfterMs, backOffMs(failures++, time));
      refuse(write, error);
      return 0;
    }
  };
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    for (;;) {
      const [first] = writes;
      const isUsers = session.user()?.id === userId;
      if (isClosed || holds > 0 || !first || !isUsers) break;
      const ms = await sendFirst(first);
      if (ms > 0 && !isClosed) await pause.wait(ms);
    }
    isRunning = false;
  };

  const takeBackAll = () => {
    for (const { reject } of waiting.values())
      reject(new TaskmeshError('SIGNED_OUT', 'The user who made this change is no longer signed in.'));
    waiting.clear();
    set([]);
  };
  /** A user's writes are never sent as another user; they wait in storage. */
  const turnTo = async (next: string) => {
    giveBack?.();
    giveBack = undefined;
    userId = next;
    takeBackAll();
    await storing.catch(() => undefined);
    const release = await own(`${nameOf(storage)}.writes.${next}`);
    const stored = await readWrites(storage, keyOfUser(next)).catch(() => []);
    if (userId !== next || isClosed) return release();
    giveBack = release;
    set([...stored, ...writes]);
    storeLater();
    pause.end();
    return run();
  };
  /** Nothing may stay of a user who has signed out, in whichever page. Another page has the lock if this one has not. */
  const leave = (left: string) => {
    const release = giveBack;
    giveBack = undefined;
    userId = undefined;
    takeBackAll();
    const drop = async () => {
      if (release || !(await session.isStillOf(left))) await storage.removeItem(keyOfUser(left));
    };
    storing = storing.catch(() => undefined).then(() => changeStorage(storage, drop));
    void storing.catch(() => undefined).then(release);
  };
  const followUser = () => {
    const user = session.user();
    if (session.isLeft() && userId !== undefined) return leave(userId);
    if (user && user.id !== userId) return void turnTo(user.id);
    // The same user may have signed in again.
    pause.end();
    return void run();
  };
  const unfollow = session.subscribe(followUser);
  followUser();

  return {
    pending: () => writes,
    isKept: () => giveBack !== undefined,
    subscribe: (listener) => listeners.add((tell) => tell(listener)),
    add(added) {
      const write = { ...added, taskId: created.get(added.taskId) ?? added.taskId };
      const isKnown = !isLocal(write.taskId) || writes.some(({ taskId }) => taskId === write.taskId);
      if (!session.user()) return Promise.reject(new TaskmeshError('SIGNED_OUT', 'No one is signed in.'));
      if (writes.length >= limit)
        return Promise.reject(new TaskmeshError('QUEUE_FULL', `${limit} writes wait already.`));
      if (write.kind !== 'create' && !isKnown)
        return Promise.reject(new TaskmeshError('NOT_CREATED', 'The task was not created.'));
      const outcome = new Promise<Outcome>((resolve, reject) => waiting.set(write.key, { resolve, reject }));
      set([...writes, write]);
      storeLater();
      void run();
      return outcome;
    },
    confirm(key, outcome) {
      const write = writes.find((each) => each.key === key);
      if (!write) return;
      done(write, outcome);
      pause.end();
    },
    hold() {
      holds += 1;
      return () => {
        holds -= 1;
        void run();
      };
    },
    stored: () => storing,
    wake: pause.end,
    close() {
      isClosed = true;
      giveBack?.();
      unfollow();
      pause.end();
    },
  };
}

/**
 * A write that was made on top of one that is done now: it refers to the server's id, and to the version that this has made, if
 * no one else has made one in between.
 */
function rebase(write: Write, { id: taskId, task }: Outcome): Write {
  const isNext = task && 'ifVersion' in write && write.ifVersion === task.version - 1;
  return { ...write, taskId, ...(isNext && { ifVersion: task.version }) };
}

async function readWrites(storage: Storage, key: string): Promise<readonly Write[]> {
  return ((await readJson(storage, key, Array.isArray)) ?? []).filter(isWrite);
}
