import { isTransient, isUnprocessed, TaskmeshError, toTaskmeshError } from '../errors.ts';
import { createListeners } from '../listeners.ts';
import type { Session } from '../session.ts';
import { userIdOf } from '../session-state.ts';
import { changeStorage, nameOf, readJson, waitForStorage, type Storage } from '../storage.ts';
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
  session: Pick<Session, 'user' | 'subscribe' | 'stayId' | 'check' | 'stored' | 'request' | 'loaded'>;
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

/*
 * The page's turn to send the writes of a user's stay:
 *
 *   none ─ A signs in ─► A ─ session ended ─► A, asleep ─ A signs in ─► A  (with the same promises)
 *     ▲                  │ ├─ another stay, also of A after an unnoticed sign-out ─► the next  (A's writes stay stored)
 *     │                  │ └─ closed ─► none for good  (A's writes stay stored)
 *     └── signed out ────┘  removes A's writes
 */
interface Turn {
  stayId: string;
  /** The lock's name, which a sign-in may change. */
  name?: string;
  /** Gives the lock up. Only with the lock, the page stores the writes. */
  release?: () => void;
  /** What it has read from the storage or stored there. `isUnsure`: a sign-in may have moved some of it elsewhere since. */
  kept?: readonly Write[];
  isUnsure?: boolean;
  isRunning?: boolean;
}

/** A user's writes have the same key after each sign-in. */
const keyOf = (stayId: string, name = 'taskmesh') => `${name}.writes.${userIdOf(stayId)}`;

export function createWriteQueue({ session, storage, time, limit, own }: QueueDeps) {
  const listeners = createListeners<[tell: (listener: WritesListener) => void]>();
  const waiting = new Map<string, Waiting>();
  const pause = createPause(time);
  let writes: readonly Write[] = [];
  /** Keys of finished writes that may still be stored. */
  const finished = new Set<string>();
  /** For each created task: its local id → the server's id. */
  const created = new Map<string, string>();
  /** Rejected writes of earlier pages, for the first listener that asks for them. */
  let unheard: [write: Write, error: TaskmeshError][] = [];
  let turn: Turn | undefined;
  let attempt = Promise.resolve(0);
  let holds = 0;
  let failures = 0;
  let retryAfterMs = 0;
  let isLoaded = false;
  void session.loaded.then(() => (isLoaded = true));

  const set = (next: readonly Write[]) => {
    writes = next;
    listeners.notify((listener) => listener.onPending());
  };
  const merge = (stored: readonly Write[], mine: readonly Write[]) =>
    stored.filter((write) => !isAmong(mine, write) && !finished.has(write.key)).concat(mine);
  let storing = Promise.resolve();
  /** Runs one at a time, so that the last one wins. */
  const store = (of = turn) => (storing = storing.catch(() => undefined).then(() => storeNow(of)));
  const storeNow = (of: Turn | undefined) =>
    changeStorage(storage, async () => {
      if (!of || (turn && turn !== of)) return;
      const key = keyOf(of.stayId);
      const over = [...finished];
      const isStored = of.release !== undefined;
      await session.check();
      // Without Web Locks, other pages store their writes here as well.
      const stored = of.kept ? await readWrites(storage, key) : [];
      const isSession = session.user() && session.stayId() === of.stayId;
      // What is stored elsewhere by now is sent from there.
      if (isSession && of.isUnsure) set(writes.filter((write) => isAmong(stored, write) || !isAmong(of.kept, write)));
      if (isSession) of.isUnsure = false;
      const mine = writes;
      // Without the session, the user may have signed out on another page: then nothing may be added to the storage.
      const kept = merge(stored, isSession ? mine : []);
      if (isStored) await (kept.length > 0 ? storage.setItem(key, JSON.stringify(kept)) : storage.removeItem(key));
      if (isStored && isSession) of.kept = kept;
      for (const each of isStored ? over : []) finished.delete(each);
      if (mine.some((write) => !isAmong(kept, write))) throw new TaskmeshError('SIGNED_OUT', 'The session has ended.');
    });
  /** If this fails, a finished write stays in the storage and is sent once more, which is harmless. */
  const storeLater = () => void store().catch(() => undefined);

  const finish = (write: Write) => {
    set(writes.filter(({ key }) => key !== write.key));
    if (turn?.kept) finished.add(write.key);
    storeLater();
    failures = retryAfterMs = 0;
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
  const report = () => {
    const refused = unheard;
    listeners.notify((listener) => {
      if (!listener.onRefused) return;
      unheard = [];
      for (const each of refused) listener.onRefused(...each);
    });
  };
  const refuse = (write: Write, error: TaskmeshError) => {
    const waiter = finish(write);
    if (waiter) waiter.reject(error);
    else {
      unheard.push([write, error]);
      report();
    }
    if (write.kind !== 'create') return;
    const notCreated = new TaskmeshError('NOT_CREATED', 'The task was not created.', { cause: error });
    for (const each of writes.filter(({ taskId }) => taskId === write.taskId)) refuse(each, notCreated);
  };
  const isPending = (write: Write) => isAmong(writes, write);

  const isOffline = () => (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false;

  /** @returns the pause before the next attempt, in ms */
  const sendFirst = async (write: Write): Promise<number> => {
    const wasSent = write.sentAt !== undefined;
    const wasOffline = write.kind === 'create' && isOffline();
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
      if ((isUnprocessed(error) || (wasOffline && isOffline() && error.code === 'NETWORK')) && !wasSent) {
        delete write.sentAt; // the server did not process it
        await store().catch(() => undefined);
      }
      ({ retryAfterMs } = error);
      if (isTransient(error) || isUnprocessed(error)) return Math.max(retryAfterMs, backOffMs(failures++, time));
      refuse(write, error);
      return 0;
    }
  };
  const run = async () => {
    const mine = turn;
    if (!mine || mine.isRunning) return;
    mine.isRunning = true;
    while (turn === mine && session.user() && holds === 0 && writes[0]) {
      attempt = sendFirst(writes[0]);
      const ms = await attempt;
      if (ms > 0 && turn === mine) await pause.wait(ms);
    }
    mine.isRunning = false;
  };

  /** `left`: what stays stored for the page of its user that sends it. */
  const rejectAll = (left?: readonly Write[]) => {
    for (const { key } of writes.filter((write) => !isAmong(left, write))) {
      waiting.get(key)?.reject(new TaskmeshError('SIGNED_OUT', 'The session has ended.'));
      waiting.delete(key);
    }
    attempt = Promise.resolve(0);
    unheard = [];
    set([]);
  };
  const resume = () => {
    pause.end();
    void run();
  };
  const acquire = async (mine: Turn, name: string) => {
    mine.release?.();
    delete mine.release;
    mine.name = name;
    await storing.catch(() => undefined);
    const release = await own(name);
    const stored = await readWrites(storage, keyOf(mine.stayId)).catch(() => []);
    if (turn !== mine || mine.name !== name) return release();
    mine.release = release;
    mine.kept ??= stored;
    set(merge(stored, writes));
    storeLater();
    return resume();
  };
  /** Removes the stored writes of a user who has signed out, on any page, even if another page holds the lock. */
  const leave = ({ stayId, release }: Turn) => {
    turn = undefined;
    rejectAll();
    const drop = async () => {
      const now = await session.stored(); // the user's next session, or another one, if each tab has its own
      if (now?.user.id !== userIdOf(stayId)) await storage.removeItem(keyOf(stayId));
    };
    storing = storing.catch(() => undefined).then(() => changeStorage(storage, drop));
    void storing.catch(() => undefined).then(release);
  };
  const followUser = () => {
    const stayId = session.stayId();
    if (stayId === undefined) return turn && leave(turn);
    if (turn?.stayId !== stayId) {
      rejectAll(userIdOf(turn?.stayId) === userIdOf(stayId) ? turn?.kept : []);
      turn?.release?.();
      turn = { stayId }; // a user's writes are never sent as another user: they stay in the storage
    }
    const name = keyOf(stayId, nameOf(storage));
    turn.isUnsure ||= !session.user() || turn.name !== name;
    if (turn.name !== name) void acquire(turn, name);
    return resume();
  };
  const unfollow = session.subscribe(followUser);
  followUser();

  return {
    pending: (): readonly Write[] => writes,
    /** The server's id of a task that was created here, as soon as it is known. */
    idOf: (taskId: string) => created.get(taskId) ?? taskId,
    /** Whether this page stores its writes. Of several pages that share a storage, only one does. */
    isStored: () => turn?.release !== undefined,
    subscribe(listener: WritesListener): () => void {
      queueMicrotask(report);
      return listeners.add((notify) => notify(listener));
    },
    /** Resolves when the write has succeeded. @throws TaskmeshError when it was rejected and undone */
    async add(added: Write) {
      if (!isLoaded) await waitForStorage(session.loaded, time); // in order, even if the user is known by now
      const write = { ...added, taskId: created.get(added.taskId) ?? added.taskId };
      const isKnown = !isLocal(write.taskId) || writes.some(({ taskId }) => taskId === write.taskId);
      if (!turn || !session.user()) throw new TaskmeshError('SIGNED_OUT', 'No one is signed in.');
      if (writes.length >= limit) throw new TaskmeshError('QUEUE_FULL', `${limit} writes wait already.`);
      if (write.kind !== 'create' && !isKnown) throw new TaskmeshError('NOT_CREATED', 'The task was not created.');
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
    /** Ends the pause before the next attempt, unless the server has set a time for it. */
    wake: () => void (retryAfterMs === 0 && pause.end()),
    close(): void {
      void storing.catch(() => undefined).then(turn?.release);
      turn = undefined; // what is added or done from now on must not replace what the next owner stores
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

const isAmong = (writes: readonly Write[] = [], { key }: Write) => writes.some((each) => each.key === key);

async function readWrites(storage: Storage, key: string): Promise<readonly Write[]> {
  return ((await readJson(storage, key, Array.isArray)) ?? []).filter(isWrite);
}
