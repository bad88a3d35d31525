import { isPassing, TaskmeshError, toTaskmeshError } from '../errors.ts';
import { createListeners } from '../listeners.ts';
import type { Session } from '../session.ts';
import { readJson, type Storage } from '../storage.ts';
import { backOffMs, createPause, type Time } from '../time.ts';
import { sendWrite } from './send-write.ts';
import { isLocal, type Outcome, type Write } from './write.ts';

/** What lists hear of. */
export interface WritesListener {
  /** Other writes are pending than before. */
  onPending(): void;
  /** A write was done, just before it is pending no more. */
  onDone(write: Write, outcome: Outcome): void;
  /** A write was refused that nobody waits for: an earlier page has left it behind. */
  onRefused?(write: Write, error: TaskmeshError): void;
}

/** The writes that the server has not answered, of whoever is signed in, in the order in which they are sent: one after the other. */
export interface WriteQueue {
  pending(): readonly Write[];
  subscribe(listener: WritesListener): () => void;
  /** Resolves when it is done. @throws TaskmeshError when it was refused, and is taken back */
  add(write: Write): Promise<Outcome>;
  /** The feed has told the change that a write made: it is done, whatever its answer will be. */
  confirm(key: string, outcome: Outcome): void;
  /** Nothing is sent until the returned function is called: who reads a list knows then that it has no write that is not answered. */
  hold(): () => void;
  /** Takes everything back, also from storage. */
  discard(): Promise<void>;
  /** Tries again at once, when it waits to do so. */
  wake(): void;
  close(): void;
}

export interface QueueDeps {
  session: Pick<Session, 'user' | 'subscribe' | 'request'>;
  storage: Storage;
  time: Time;
  /** More writes than this do not wait. */
  limit: number;
  /** Resolves when what is stored by that name is this client's, as it is of one page at a time, until it is given back. */
  own: (name: string) => Promise<() => void>;
}

interface Waiting {
  resolve: (outcome: Outcome) => void;
  reject: (error: TaskmeshError) => void;
}

const keyOfUser = (userId: string) => `taskmesh.writes.${userId}`;

export function createWriteQueue({ session, storage, time, limit, own }: QueueDeps): WriteQueue {
  const listeners = createListeners<[tell: (listener: WritesListener) => void]>();
  const waiting = new Map<string, Waiting>();
  const pause = createPause(time);
  let writes: readonly Write[] = [];
  let userId: string | undefined;
  /** The ids that tasks got which lists have shown by one of ours. */
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
  /** One after the other, so that the last one stays. */
  const store = () => (storing = storing.then(storeNow, storeNow));
  const storeNow = async () => {
    if (!giveBack || userId === undefined) return;
    const key = keyOfUser(userId);
    if (writes.length === 0) await storage.removeItem(key);
    else await storage.setItem(key, JSON.stringify(writes));
  };
  /** What is left in storage for longer is done once more, which is no harm. */
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
    // What waits for a task to be created knows it by its own id from now on.
    if (write.kind === 'create') {
      created.set(write.taskId, outcome.id);
      writes = writes.map((each) =>
        each.taskId === write.taskId && each.key !== write.key ? { ...each, taskId: outcome.id } : each,
      );
    }
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

  /** @returns how long to wait before the next one is sent */
  const sendFirst = async (write: Write): Promise<number> => {
    const wasSent = write.sentAt !== undefined;
    try {
      if (!wasSent) {
        write.sentAt = time.now();
        // Whoever reads it after a crash has to know that it may have been done.
        await store().catch((cause: unknown) => {
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
      if (isPassing(error) || error.code === 'SIGNED_OUT')
        return Math.max(error.retryAfterMs, backOffMs(failures++, time));
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
      reject(new TaskmeshError('SIGNED_OUT', 'Whoever wrote this is signed in no more.'));
    waiting.clear();
    set([]);
  };
  /** Writes of one user are never sent as another one: they wait in storage. */
  const turnTo = async (next: string) => {
    giveBack?.();
    giveBack = undefined;
    userId = next;
    takeBackAll();
    const release = await own(keyOfUser(next));
    const stored = (await readJson<Write[]>(storage, keyOfUser(next)).catch(() => undefined)) ?? [];
    if (userId !== next || isClosed) return release();
    giveBack = release;
    set([...stored, ...writes]);
    storeLater();
    pause.end();
    return run();
  };
  const followUser = () => {
    const user = session.user();
    if (user && user.id !== userId) return void turnTo(user.id);
    // Who was signed out by the server, and signs in again, goes on.
    pause.end();
    return void run();
  };
  const unfollow = session.subscribe(followUser);
  followUser();

  return {
    pending: () => writes,
    subscribe: (listener) => listeners.add((tell) => tell(listener)),
    add(added) {
      const write = { ...added, taskId: created.get(added.taskId) ?? added.taskId };
      const isKnown = !isLocal(write.taskId) || writes.some(({ taskId }) => taskId === write.taskId);
      if (!session.user()) return Promise.reject(new TaskmeshError('SIGNED_OUT', 'Nobody is signed in.'));
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
    async discard() {
      takeBackAll();
      await store();
    },
    wake: pause.end,
    close() {
      isClosed = true;
      giveBack?.();
      unfollow();
      pause.end();
    },
  };
}
