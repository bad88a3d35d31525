import { toTaskmeshError, type TaskmeshError } from '../errors.ts';
import { endOfError, type OpenFeed } from '../feed/feed.ts';
import { createListeners } from '../listeners.ts';
import type { TaskFilter, TaskOrder } from '../operations.generated.ts';
import type { Session } from '../session.ts';
import { backOffMs, type Time } from '../time.ts';
import type { WriteQueue } from '../writes/write-queue.ts';
import { keyOf } from '../writes/write.ts';
import { createPages, type Change } from './known-tasks.ts';
import { createListState, type ListView } from './list-state.ts';
import { IDLE, nextLive, statusOf, type LiveEvent, type LiveState, type LiveStatus } from './live-state.ts';
import { shapeOf } from './shape.ts';

export interface LiveTasksOptions {
  filter?: TaskFilter | undefined;
  /** @default `{ field: 'CREATED_AT', direction: 'DESC' }` */
  orderBy?: TaskOrder | undefined;
  /** How many tasks to read initially. @default 50 */
  first?: number | undefined;
}

export interface LiveTasksSnapshot extends ListView {
  status: LiveStatus;
  error?: TaskmeshError | undefined;
}

/** A list that stays up to date while it has listeners. A new listener resumes it where it stopped. */
export interface LiveTasks {
  /** The same object until something changes. */
  get(): LiveTasksSnapshot;
  /** Calls `listener` after changes, once for changes that arrive together. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  /** Reads more tasks after the last one. @default the number that was read initially. @throws TaskmeshError */
  loadMore(count?: number): Promise<void>;
}

export interface LiveTasksDeps {
  session: Pick<Session, 'user' | 'subscribe' | 'request' | 'refresh'>;
  writes: Pick<WriteQueue, 'pending' | 'subscribe' | 'confirm' | 'wake' | 'hold'>;
  openFeed: OpenFeed;
  time: Time;
  /** Calls `wake` when a retry may succeed at once. Returns a function that unsubscribes. */
  onWake: (wake: () => void) => () => void;
}

/** Cancels the work of a state. */
type Stop = () => void;

const DEFAULT_FIRST = 50;
/** A connection that lasts this long resets the count of failures. Longer than a gateway waits for a service that is away. */
const STABLE_AFTER_MS = 15_000;

export function createLiveTasks(options: LiveTasksOptions, deps: LiveTasksDeps): LiveTasks {
  const { session, writes, openFeed, time, onWake } = deps;
  const shape = shapeOf(options.filter, options.orderBy);
  const { first = DEFAULT_FIRST } = options;
  const tasks = createListState(shape);
  const pages = createPages(session.request, shape);
  const listeners = createListeners<[]>();
  let state: LiveState = IDLE;
  let stop: Stop = () => {};
  let snapshot: LiveTasksSnapshot | undefined;
  let isNotifying = false;
  let listening = 0;
  let leave = () => {};
  /** The user whose tasks are loaded. */
  let userId: string | undefined;
  let wanted = first;
  let loading: Promise<void> | undefined;

  const changed = () => {
    snapshot = undefined;
    if (isNotifying) return;
    isNotifying = true;
    queueMicrotask(() => {
      isNotifying = false;
      listeners.notify();
    });
  };
  /** Restarts the work when the state changes, except from `following` to `live`, which share one feed. */
  const dispatch = (event: LiveEvent) => {
    const before = state;
    state = nextLive(before, event);
    if (state === before) return;
    changed();
    const continues = state.kind === before.kind || (before.kind === 'following' && state.kind === 'live');
    if (!continues) restart(state);
  };
  const restart = (current: LiveState) => {
    stop();
    let isOver = false;
    let cancel: Stop = () => {};
    stop = () => {
      isOver = true;
      cancel();
    };
    const emit = (event: LiveEvent) => {
      if (!isOver) dispatch(event);
    };
    cancel = start(current, emit, () => isOver);
    if (isOver) cancel();
  };
  const start = (current: LiveState, emit: (event: LiveEvent) => void, isOver: () => boolean): Stop => {
    const fail = (error: unknown) => emit({ kind: 'ended', end: endOfError(toTaskmeshError(error), undefined) });
    switch (current.kind) {
      case 'reading':
        read(isOver).then(() => emit({ kind: 'read' }), fail);
        return () => {};
      case 'following':
        return follow(emit, isOver);
      case 'renewing':
        session.refresh(current.token).then((token) => {
          const end = { reason: 'unauthenticated', token } as const;
          emit(token === undefined ? { kind: 'ended', end } : { kind: 'renewed' });
        }, fail);
        return () => {};
      case 'pausing': {
        const { failures, isRepaired, retryAfterMs } = current;
        const ms = isRepaired && failures === 1 ? 0 : backOffMs(failures - 1, time);
        return time.after(Math.max(ms, retryAfterMs), () => emit({ kind: 'resumed' }));
      }
      default:
        return () => {};
    }
  };
  const read = async (isOver: () => boolean) => {
    const release = await writes.hold();
    try {
      if (isOver()) return;
      // Reading on after the list was abandoned would delay writes for nothing.
      const known = await pages.readFirst(() => (isOver() ? 0 : wanted));
      if (isOver()) return;
      tasks.begin(known, writes.pending());
      tasks.expectResponses(writes.pending().length > 0);
    } finally {
      release();
    }
  };
  const applyChange = (change: Change, traceparent: string | undefined) => {
    const key = keyOf(traceparent);
    if (!tasks.apply(change)) return;
    const { kind, task } = change;
    if (key !== undefined) writes.confirm(key, { id: task.id, task: kind === 'DELETE' ? null : task });
    changed();
  };
  const follow = (emit: (event: LiveEvent) => void, isOver: () => boolean): Stop => {
    const prove = () => emit({ kind: 'proved' });
    let forgetStanding = () => {};
    const close = openFeed(
      { filter: shape.filter, after: tasks.known()?.feedCursor() ?? null },
      {
        onSubscribed() {
          forgetStanding = time.after(STABLE_AFTER_MS, prove);
          emit({ kind: 'standing' });
          writes.wake();
        },
        onChange(change, traceparent) {
          if (isOver()) return; // still buffered when the connection was given up
          prove();
          applyChange(change, traceparent);
        },
        onEnd: (end) => emit({ kind: 'ended', end }),
      },
    );
    return () => {
      forgetStanding();
      close();
    };
  };

  const switchTo = (next: string | undefined) => {
    if (next === userId) return;
    tasks.forget();
    snapshot = undefined;
    wanted = first;
    userId = next;
  };
  /** Without listeners, the list has not noticed a change of the user. */
  const checkUser = () => {
    if (listening === 0) switchTo(session.user()?.id);
  };
  const followUser = () => {
    const user = session.user();
    if (('failures' in state || state.kind === 'failed') && user?.id === userId) return;
    dispatch({ kind: 'left' });
    if (user !== undefined) switchTo(user?.id);
    const isRead = tasks.known() !== undefined;
    tasks.expectResponses(writes.pending().length > 0);
    dispatch({ kind: 'entered', user: user === undefined ? 'unknown' : user ? 'known' : 'none', isRead });
  };
  /** Ends a pause, unless the server has set a time for the retry. */
  const endPause = () => {
    if (state.kind === 'pausing' && state.retryAfterMs === 0) dispatch({ kind: 'resumed' });
  };
  const enter = () => {
    const unsubscribe = [
      session.subscribe(followUser),
      writes.subscribe({
        onPending() {
          tasks.expectResponses(writes.pending().length > 0);
          changed();
        },
        onDone(write, outcome, isCurrent) {
          tasks.applyOutcome(write, outcome, isCurrent);
          endPause(); // the network works
        },
      }),
      onWake(endPause),
    ];
    followUser();
    return () => {
      for (const each of unsubscribe) each();
      dispatch({ kind: 'left' });
      tasks.stopWaiting(writes.pending());
    };
  };
  const knownNow = () => {
    checkUser();
    return tasks.known();
  };
  const loadAfterEdge = async (count: number) => {
    const known = knownNow();
    const unwatch = known?.trackReports();
    try {
      let left = count;
      while (known?.hasMore() && left > 0 && known === knownNow()) {
        const page = await pages.readPage(left, known.pageCursor());
        if (known !== knownNow()) return; // the list was read again, or the user has changed
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
      return (snapshot ??= {
        ...tasks.view(writes.pending()),
        status: statusOf(state),
        error: state.kind === 'failed' ? state.error : undefined,
      });
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
      loading ??= loadAfterEdge(count).finally(() => (loading = undefined));
      return loading;
    },
  };
}
