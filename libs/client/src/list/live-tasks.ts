import { toTaskmeshError, type TaskmeshError } from '../errors.ts';
import { CUT, endOfError, type FeedEnd, type OpenFeed } from '../feed/feed.ts';
import { createListeners } from '../listeners.ts';
import type { TaskFilter, TaskOrder } from '../operations.generated.ts';
import type { Session } from '../session.ts';
import { backOffMs, createPause, type Pause, type Time } from '../time.ts';
import type { WriteQueue } from '../writes/write-queue.ts';
import { keyOf } from '../writes/write.ts';
import type { Change } from './known-tasks.ts';
import { createListState, type ListView } from './list-state.ts';
import { createPages } from './pages.ts';
import { shapeOf } from './shape.ts';

export interface LiveTasksOptions {
  filter?: TaskFilter | undefined;
  /** @default `{ field: 'CREATED_AT', direction: 'DESC' }` */
  orderBy?: TaskOrder | undefined;
  /** How many tasks are read first. @default 50 */
  first?: number | undefined;
}

/**
 * idle: without listeners, the list is not kept up to date. loading: it is being read. live: it is up to date.
 * reconnecting: it may be out of date. signed-out: nobody is signed in. failed: for the reason in `error`, for good.
 */
export type LiveStatus = 'idle' | 'loading' | 'live' | 'reconnecting' | 'signed-out' | 'failed';

export interface LiveTasksSnapshot extends ListView {
  status: LiveStatus;
  error?: TaskmeshError | undefined;
}

/** A list that is kept up to date while it has listeners. With a new listener, it continues where it was. */
export interface LiveTasks {
  /** The same object until something changes. */
  get(): LiveTasksSnapshot;
  /** Calls back after changes, once for those that come together. Returns how to unsubscribe. */
  subscribe(listener: () => void): () => void;
  /** Reads more tasks after the last one. @default as many as were read first. @throws TaskmeshError */
  loadMore(count?: number): Promise<void>;
}

export interface LiveTasksDeps {
  session: Pick<Session, 'user' | 'subscribe' | 'request' | 'refresh'>;
  writes: Pick<WriteQueue, 'pending' | 'subscribe' | 'confirm' | 'wake' | 'hold'>;
  openFeed: OpenFeed;
  time: Time;
  /** Calls back when there is a reason to try at once. Returns how to unsubscribe. */
  onWake: (wake: () => void) => () => void;
}

/** The time from the first listener to the last one, or to a change of the user. */
interface Life {
  isOver: boolean;
  pause: Pause;
  /** The server has said when to come back; sooner would be useless. */
  isTold: boolean;
  stopFeed: () => void;
}

const FIRST = 50;
/** A connection that lasts this long does not count as a failure. */
const STANDS_MS = 5_000;

export function createLiveTasks(options: LiveTasksOptions, deps: LiveTasksDeps): LiveTasks {
  const { session, writes, openFeed, time, onWake } = deps;
  const shape = shapeOf(options.filter, options.orderBy);
  const { first = FIRST } = options;
  const state = createListState(shape);
  const pages = createPages(session.request, shape);
  const listeners = createListeners<[]>();
  let status: LiveStatus = 'idle';
  let error: TaskmeshError | undefined;
  let snapshot: LiveTasksSnapshot | undefined;
  let isTelling = false;
  let listening = 0;
  let leave = () => {};
  let life: Life | undefined;
  /** Whose tasks are known. */
  let userId: string | undefined;
  let mustRead = true;
  let wanted = first;
  let loading: Promise<void> | undefined;

  const changed = () => {
    snapshot = undefined;
    if (isTelling) return;
    isTelling = true;
    queueMicrotask(() => {
      isTelling = false;
      listeners.tell();
    });
  };
  const become = (next: LiveStatus, why?: TaskmeshError) => {
    status = next;
    error = why;
    changed();
  };

  const readAnew = async (current: Life) => {
    // Of a list that nobody looks at any more, the pages that are left would hold up writes for nothing.
    const known = await pages.readFirst(() => (current.isOver ? 0 : wanted));
    if (current.isOver) return;
    state.begin(known, writes.pending());
    state.expectAnswers(writes.pending().length > 0);
    mustRead = false;
    changed();
  };
  const readAlone = async (current: Life) => {
    const release = writes.hold();
    try {
      await readAnew(current);
    } finally {
      release();
    }
  };
  const take = (change: Change, traceparent: string | undefined) => {
    const key = keyOf(traceparent);
    if (!state.apply(change)) return;
    const { kind, task } = change;
    if (key !== undefined) writes.confirm(key, { id: task.id, task: kind === 'DELETE' ? null : task });
    changed();
  };
  const follow = (current: Life, onSuccess: () => void): Promise<FeedEnd> => {
    const { promise, resolve } = Promise.withResolvers<FeedEnd>();
    let forgetStanding = () => {};
    let isOpen = true;
    const stop = openFeed(
      { filter: shape.filter, after: state.known()?.feedCursor() ?? null },
      {
        onStanding() {
          forgetStanding = time.after(STANDS_MS, onSuccess);
          become('live');
          writes.wake();
        },
        onChange(change, traceparent) {
          if (!isOpen) return; // what a torn connection still had in its buffers
          onSuccess();
          take(change, traceparent);
        },
        onEnd: resolve,
      },
    );
    current.stopFeed = () => {
      stop();
      resolve(CUT);
    };
    return promise.finally(() => {
      isOpen = false;
      forgetStanding();
    });
  };
  const attempt = async (current: Life, onSuccess: () => void): Promise<FeedEnd> => {
    try {
      if (mustRead) await readAlone(current);
      return current.isOver ? CUT : await follow(current, onSuccess);
    } catch (caught) {
      return endOfError(toTaskmeshError(caught), undefined);
    }
  };
  /** Refreshes the token. Returns how the feed ended if the session goes on. */
  const renew = async (token: string | undefined): Promise<FeedEnd | undefined> => {
    try {
      return token !== undefined && (await session.refresh(token)) !== undefined ? CUT : undefined;
    } catch (caught) {
      return endOfError(toTaskmeshError(caught), undefined);
    }
  };
  const live = async (current: Life) => {
    let failures = 0;
    for (;;) {
      let end = await attempt(current, () => (failures = 0));
      if (current.isOver) return;
      const isCut = end.reason === 'cut';
      if (end.reason === 'unauthenticated') end = (await renew(end.token)) ?? end;
      if (current.isOver) return;
      if (end.reason === 'unauthenticated') return become('signed-out');
      if (end.reason === 'refused') return become('failed', end.error);
      if (end.reason === 'expired') mustRead = true;
      become(mustRead ? 'loading' : 'reconnecting');
      // After an end whose reason was dealt with, the first attempt comes at once.
      const pauseMs = isCut || failures > 0 ? backOffMs(failures, time) : 0;
      failures += 1;
      const toldMs = end.reason === 'cut' ? end.retryAfterMs : 0;
      current.isTold = toldMs > 0;
      await current.pause.wait(Math.max(pauseMs, toldMs));
      if (current.isOver) return;
    }
  };

  const endLife = () => {
    if (!life) return;
    life.isOver = true;
    life.pause.end();
    life.stopFeed();
    life = undefined;
  };
  const turnTo = (next: string | undefined) => {
    if (next === userId) return;
    state.forget();
    snapshot = undefined;
    mustRead = true;
    wanted = first;
    userId = next;
  };
  /** Without listeners, a change of the user goes unnoticed until now. */
  const checkUser = () => {
    if (listening === 0) turnTo(session.user()?.id);
  };
  const followUser = () => {
    const user = session.user();
    if (life && user?.id === userId) return;
    endLife();
    if (user === undefined) return become('loading'); // storage is being read
    turnTo(user?.id);
    if (!user) return become('signed-out');
    life = { isOver: false, pause: createPause(time), isTold: false, stopFeed: () => {} };
    become(mustRead ? 'loading' : 'reconnecting');
    state.expectAnswers(writes.pending().length > 0);
    void live(life);
  };
  const hurry = () => {
    if (life && !life.isTold) life.pause.end();
  };
  const enter = () => {
    const unsubscribe = [
      session.subscribe(followUser),
      writes.subscribe({
        onPending() {
          state.expectAnswers(writes.pending().length > 0);
          changed();
        },
        onDone(write, outcome) {
          state.answer(write, outcome);
          hurry(); // the network works
        },
      }),
      onWake(hurry),
    ];
    followUser();
    return () => {
      for (const each of unsubscribe) each();
      endLife();
      state.rest(writes.pending());
      become('idle');
    };
  };
  const knownNow = () => {
    checkUser();
    return state.known();
  };
  const loadBehind = async (count: number) => {
    const known = knownNow();
    const unwatch = known?.watch();
    try {
      let left = count;
      while (known?.hasMore() && left > 0 && known === knownNow()) {
        const page = await pages.readPage(left, known.pageCursor());
        if (known !== knownNow()) return; // the list was read again meanwhile, or is another user's
        known.extend(page);
        left -= page.edges.length;
        wanted += page.edges.length;
        changed();
      }
    } finally {
      unwatch?.();
    }
  };

  return {
    get() {
      checkUser();
      return (snapshot ??= { ...state.view(writes.pending()), status, error });
    },
    subscribe(listener) {
      const remove = listeners.add(listener);
      listening += 1;
      if (listening === 1) leave = enter();
      let isListening = true;
      return () => {
        if (!isListening) return;
        isListening = false;
        remove();
        listening -= 1;
        if (listening === 0) leave();
      };
    },
    loadMore(count = first) {
      loading ??= loadBehind(count).finally(() => (loading = undefined));
      return loading;
    },
  };
}
