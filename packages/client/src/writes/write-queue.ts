import { isOfSession, isTransient, TaskmeshError, toTaskmeshError } from '../errors.ts';
import { createListeners } from '../listeners.ts';
import type { Session } from '../session.ts';
import { userIdOf } from '../session-state.ts';
import { changeStorage, nameOf, readJson, type Storage } from '../storage.ts';
import { backOffMs, createPause, type Time } from '../time.ts';
import { sendWrite } from './send-write.ts';
import { isLocal, isWrite, type Outcome, type Write } from './write.ts';

/** The events that lists follow. */
export interface WritesListener {
  /** The pending writes have changed. */
  onPending(): void;
  /** A write has succeeded. Called just before it stops being pending. `isCurrent`: the task was so at the last attempt. */
  onDone(write: Write, outcome: Outcome, isCurrent: boolean): void;
  /** A write that an earlier page left behind was rejected. */
  onRefused?(write: Write, error: TaskmeshError): void;
}

/** The signed-in user's writes that the server has not confirmed yet. They are sent one at a time, in order. */
export type WriteQueue = ReturnType<typeof createWriteQueue>;

export interface QueueDeps {
  session: Pick<Session, 'user' | 'subscribe' | 'hasSignedOut' | 'hasOther' | 'signInId' | 'isOf' | 'request'>;
  storage: Storage;
  time: Time;
  /** The maximum number of pending writes. */
  limit: number;
  /** Resolves once this page alone owns the stored writes of this name. The returned function gives the ownership up. */
  own: (name: string) => Promise<() => void>;
}

interface Waiting {
  resolve: (outcome: Outcome) => void;
  reject: (error: TaskmeshError) => void;
}

/** A user's writes have the same key after each sign-in. */
const keyOf = (signInId: string, name = 'taskmesh') => `${name}.writes.${userIdOf(signInId)}`;

export function createWriteQueue({ session, storage, time, limit, own }: QueueDeps) {
  const listeners = createListeners<[tell: (listener: WritesListener) => void]>();
  const waiting = new Map<string, Waiting>();
  const pause = createPause(time);
  let writes: readonly Write[] = [];
  let signInId: string | undefined;
  /** Keys of finished writes that may still be stored. */
  const finished = new Set<string>();
  /** For each created task: its local id → the server's id. */
  const created = new Map<string, string>();
  let releaseLock: (() => void) | undefined;
  let isClosed = false;
  let isRunning = false;
  let hasEnded = false;
  let switches = 0;
  let attempt = Promise.resolve(0);
  let holds = 0;
  let failures = 0;

  const set = (next: readonly Write[]) => {
    writes = next;
    listeners.notify((listener) => listener.onPending());
  };
  let storing = Promise.resolve();
  /** Runs one at a time, so that the last one wins. */
  const store = () => (storing = storing.then(storeNow, storeNow));
  const storeNow = () =>
    changeStorage(storage, async () => {
      if (signInId === undefined) return;
      const key = keyOf(signInId);
      const mine = writes; // they change when another user signs in meanwhile
      const over = new Set(finished);
      const isStored = releaseLock !== undefined;
      const isSession = await session.isOf(signInId);
      // Without Web Locks, other pages store their writes here as well.
      const stored = isStored ? (await readWrites(storage, key)).filter((write) => !over.has(write.key)) : [];
      // Without the session, the user may have signed out on another page: then nothing may be added to the storage.
      const kept = isSession ? [...stored.filter((write) => !isAmong(mine, write)), ...mine] : stored;
      if (isStored) await (kept.length > 0 ? storage.setItem(key, JSON.stringify(kept)) : storage.removeItem(key));
      for (const each of over) finished.delete(each);
      if (mine.some((write) => !isAmong(kept, write))) throw new TaskmeshError('SIGNED_OUT', 'The session has ended.');
    });
  /** If this fails, a finished write stays in the storage and is sent once more, which is harmless. */
  const storeLater = () => void store().catch(() => undefined);

  const finish = (write: Write) => {
    set(writes.filter(({ key }) => key !== write.key));
    finished.add(write.key);
    storeLater();
    failures = 0;
    const found = waiting.get(write.key);
    waiting.delete(write.key);
    return found;
  };
  const done = (write: Write, outcome: Outcome, isCurrent: boolean) => {
    if (write.kind === 'create') created.set(write.taskId, outcome.id);
    writes = writes.map((each) =>
      each.taskId === write.taskId && each.key !== write.key ? rebase(each, outcome) : each,
    );
    listeners.notify((listener) => listener.onDone(write, outcome, isCurrent));
    finish(write)?.resolve(outcome);
  };
  const refuse = (write: Write, error: TaskmeshError) => {
    const waiter = finish(write);
    if (waiter) waiter.reject(error);
    else listeners.notify((listener) => listener.onRefused?.(write, error));
    if (write.kind !== 'create') return;
    const notCreated = new TaskmeshError('NOT_CREATED', 'The task was not created.', { cause: error });
    for (const each of writes.filter(({ taskId }) => taskId === write.taskId)) refuse(each, notCreated);
  };
  const isPending = (write: Write) => isAmong(writes, write);

  /** @returns the pause before the next attempt, in ms */
  const sendFirst = async (write: Write): Promise<number> => {
    const wasSent = write.sentAt !== undefined;
    try {
      write.sentAt ??= time.now();
      // After a crash, the next page must know that the write may have taken effect.
      await store().catch((cause: unknown) => {
        if (cause instanceof TaskmeshError) throw cause;
        if (!wasSent) throw new TaskmeshError('STORAGE', 'The write cannot be kept.', { cause });
      });
      if (!isPending(write)) return 0; // withdrawn meanwhile, for example because the user has changed
      const outcome = await sendWrite(session.request, write, wasSent, time.now());
      // A repeated create returns the task as it was created.
      if (isPending(write)) done(write, outcome, !wasSent || write.kind !== 'create');
      return 0;
    } catch (caught) {
      const error = toTaskmeshError(caught);
      if (!isPending(write)) return 0;
      if (isOfSession(error) && !wasSent && write.sentAt !== undefined) {
        delete write.sentAt; // the server did not process it
        await store().catch(() => undefined);
      }
      if (isTransient(error) || isOfSession(error)) return Math.max(error.retryAfterMs, backOffMs(failures++, time));
      refuse(write, error);
      return 0;
    }
  };
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    for (;;) {
      const [first] = writes;
      const isUsers = session.signInId() === signInId;
      if (isClosed || holds > 0 || !first || !isUsers) break;
      attempt = sendFirst(first);
      const ms = await attempt;
      if (ms > 0 && !isClosed) await pause.wait(ms);
    }
    isRunning = false;
  };

  const rejectAll = () => {
    for (const { reject } of waiting.values())
      reject(new TaskmeshError('SIGNED_OUT', 'The user who made this change is no longer signed in.'));
    waiting.clear();
    attempt = Promise.resolve(0);
    set([]);
  };
  /** A user's writes are never sent as another user: they stay in the storage. */
  const switchTo = async (next: string) => {
    releaseLock?.();
    releaseLock = undefined;
    signInId = next;
    const nth = ++switches;
    rejectAll();
    await storing.catch(() => undefined);
    const release = await own(keyOf(next, nameOf(storage)));
    const stored = await readWrites(storage, keyOf(next)).catch(() => []);
    if (nth !== switches || signInId === undefined || isClosed) return release();
    releaseLock = release;
    set([...stored, ...writes]);
    storeLater();
    pause.end();
    return run();
  };
  /** Removes the stored writes of a user who has signed out, on any page, even if another page holds the lock. */
  const leave = (left: string) => {
    const release = releaseLock;
    releaseLock = signInId = undefined;
    rejectAll();
    const drop = async () => {
      // Without the lock, what is stored may be of the user's other session.
      if (release || !session.hasOther()) await storage.removeItem(keyOf(left));
    };
    storing = storing.catch(() => undefined).then(() => changeStorage(storage, drop));
    void storing.catch(() => undefined).then(release);
  };
  const followUser = () => {
    const now = session.signInId();
    if (session.hasSignedOut() && signInId !== undefined) return leave(signInId);
    // The same user may have signed in again after the session ended.
    const isSame = now === signInId || (hasEnded && userIdOf(now) === userIdOf(signInId));
    hasEnded = now === undefined;
    if (now !== undefined && !isSame) return void switchTo(now);
    signInId = now ?? signInId;
    pause.end();
    return void run();
  };
  const unfollow = session.subscribe(followUser);
  followUser();

  return {
    pending: (): readonly Write[] => writes,
    /** Whether this page stores its writes. Of several pages that share a storage, only one does. */
    isStored: () => releaseLock !== undefined,
    subscribe: (listener: WritesListener): (() => void) => listeners.add((notify) => notify(listener)),
    /** Resolves when the write has succeeded. @throws TaskmeshError when it was rejected and undone */
    add(added: Write) {
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
    /** The feed has reported the write's change, so it has succeeded, even if its response is an error or never arrives. */
    confirm(key: string, outcome: Outcome) {
      const write = writes.find((each) => each.key === key);
      if (!write) return;
      done(write, outcome, false);
      pause.end();
    },
    /** Sends nothing until the returned function is called, so that no write is in flight while a list is being read. */
    async hold() {
      holds += 1;
      await attempt;
      return () => {
        holds -= 1;
        void run();
      };
    },
    /** Resolves when the pending writes have been stored. Rejects with errors of the storage. */
    stored: () => storing,
    /** Ends the pause before the next attempt. */
    wake: pause.end,
    close(): void {
      isClosed = true;
      const release = releaseLock;
      // What is added or done from now on must not replace what the next owner stores.
      const giveUp = () => {
        releaseLock = undefined;
        release?.();
      };
      void storing.then(giveUp, giveUp);
      unfollow();
      pause.end();
    },
  };
}

/**
 * Adjusts a write that was queued behind one that has now succeeded: uses the server's id and, if it expected the preceding
 * version, the version that this write has created.
 */
function rebase(write: Write, { id: taskId, task }: Outcome): Write {
  const isNext = task && 'ifVersion' in write && write.ifVersion === task.version - 1;
  return { ...write, taskId, ...(isNext && { ifVersion: task.version }) };
}

const isAmong = (writes: readonly Write[], write: Write) => writes.some(({ key }) => key === write.key);

async function readWrites(storage: Storage, key: string): Promise<readonly Write[]> {
  return ((await readJson(storage, key, Array.isArray)) ?? []).filter(isWrite);
}
