import { createDice } from '@taskmesh/testing';
import { TaskmeshError, toTaskmeshError } from '../../src/errors.ts';
import { endOfError, type FeedListener, type OpenFeed } from '../../src/feed/feed.ts';
import type { Post } from '../../src/http.ts';
import { createLiveTasks, type LiveTasks, type LiveTasksOptions } from '../../src/list/live-tasks.ts';
import * as operations from '../../src/operations.generated.ts';
import { createMemoryStorage } from '../../src/storage.ts';
import { createWriteQueue } from '../../src/writes/write-queue.ts';
import { localIdOf, type Write } from '../../src/writes/write.ts';
import { createManualTime, settled } from '../support/manual-time.ts';
import { createModelServer, type Reported } from './model-server.ts';

/** Probabilities of faults. */
export interface Faults {
  /** A request or its response is lost. */
  lost: number;
  /** A change is reported twice. */
  doubled: number;
  /** A closed connection still delivers what it had buffered. */
  late: number;
}

interface Stream {
  listener: FeedListener;
  filter: operations.TaskFilter;
  waiting: Reported[];
  isOver: boolean;
}

const NO_FAULTS: Faults = { lost: 0, doubled: 0, late: 0 };
const USER = { id: 'user', email: 'ada@example.com', name: 'Ada' };

/** A client of a model server over a network that only moves with `step`. The device's clock is ahead of the server's by `skewMs`. */
export function createWorld({ random = createDice(1), faults = NO_FAULTS, skewMs = 0 } = {}) {
  const { fireNext, skip, ...clock } = createManualTime();
  const time = { ...clock, now: () => clock.now() + skewMs, random: random.next };
  /** Requests and responses in flight. */
  let inFlight: (() => void)[] = [];
  const streams = new Set<Stream>();
  const server = createModelServer(clock.now);

  const run = (document: string, variables: object, traceparent: string | undefined): object => {
    const given = variables as never; // the variables of the document
    switch (document) {
      case operations.READ_TASKS:
        return { tasks: server.read(given) };
      case operations.READ_TASK:
        return { task: server.task((given as { id: string }).id) };
      case operations.CREATE_TASK:
        return { createTask: server.create(given, traceparent) };
      case operations.UPDATE_TASK:
        return { updateTask: server.update(given, traceparent) };
      case operations.DELETE_TASK:
        return { deleteTask: server.remove(given, traceparent) };
      default:
        throw new Error(`The model does not support this operation: ${document}`);
    }
  };
  const request = ((document: string, variables: object, { traceparent }: { traceparent?: string } = {}) =>
    new Promise<object>((resolve, reject) => {
      const lose = () => reject(new TaskmeshError('NETWORK', 'lost'));
      inFlight.push(() => {
        if (random.chance(faults.lost)) return inFlight.push(lose);
        let answer: () => void;
        try {
          const result = run(document, structuredClone(variables), traceparent);
          answer = () => resolve(structuredClone(result));
        } catch (error) {
          answer = () => reject(error as Error);
        }
        return inFlight.push(random.chance(faults.lost) ? lose : answer);
      });
    })) as Post;

  const matches = (task: object | null, filter: operations.TaskFilter) =>
    task !== null &&
    Object.entries(filter).every(([name, value]) => value == null || Reflect.get(task, name) === value);
  const concerns = ({ change: { kind, task, previous } }: Reported, filter: operations.TaskFilter) =>
    matches(kind === 'DELETE' ? null : task, filter) || matches(previous, filter);
  const end = (stream: Stream, code: string) => {
    if (stream.isOver) return;
    stream.isOver = true;
    if (!random.chance(faults.late)) streams.delete(stream);
    stream.listener.onEnd(endOfError(new TaskmeshError(code, code), undefined));
  };
  const openFeed: OpenFeed = ({ filter, after }, listener) => {
    const stream: Stream = { listener, filter: filter ?? {}, waiting: [], isOver: false };
    inFlight.push(() => {
      if (stream.isOver) return;
      try {
        stream.waiting = server.behind(after ?? '').filter((reported) => concerns(reported, stream.filter));
        streams.add(stream);
        listener.onSubscribed();
      } catch (error) {
        stream.isOver = true;
        listener.onEnd(endOfError(toTaskmeshError(error), undefined));
      }
    });
    return () => {
      stream.isOver = true;
      if (!random.chance(faults.late)) streams.delete(stream);
    };
  };
  server.onChange.add((reported) => {
    for (const stream of streams)
      if (!stream.isOver && concerns(reported, stream.filter)) stream.waiting.push(reported);
  });
  server.onRestore.add(() => {
    for (const stream of [...streams]) end(stream, 'CURSOR_EXPIRED');
  });

  const storage = createMemoryStorage();
  const session = {
    user: () => USER,
    subscribe: () => () => {},
    stayId: () => USER.id,
    check: async () => undefined,
    stored: async () => undefined,
    loaded: Promise.resolve(),
    request,
    refresh: async () => 'token',
  };
  const writes = createWriteQueue({ session, storage, time, limit: 1_000, own: async () => () => undefined });
  let keys = 0;
  const write = (): Pick<Write, 'key' | 'queuedAt'> => ({
    key: `${++keys}`.padStart(32, '0'),
    queuedAt: time.now(),
  });
  const refused: string[] = [];
  const note = (error: TaskmeshError) => void refused.push(error.code);

  const deliver = (stream: Stream) => {
    const reported = stream.waiting[0];
    if (!reported) return void (stream.isOver && streams.delete(stream));
    stream.listener.onChange(structuredClone(reported.change), reported.traceparent);
    if (!random.chance(faults.doubled)) stream.waiting.shift();
  };
  /** Delivers one random message of this kind and lets its promises settle. Returns false if there is none. */
  const step = async (kind?: 'requests' | 'changes'): Promise<boolean> => {
    await settled();
    const busy = [...streams].filter(({ waiting, isOver }) => kind !== 'requests' && (waiting.length > 0 || isOver));
    const requests = kind === 'changes' ? 0 : inFlight.length;
    const which = random.int(requests + busy.length);
    const stream = busy[which - requests];
    const arrived = which < requests ? inFlight[which] : undefined;
    if (arrived) {
      inFlight = inFlight.filter((each) => each !== arrived);
      arrived();
    } else if (stream) deliver(stream);
    await settled();
    return arrived !== undefined || stream !== undefined;
  };

  return {
    server,
    /** The error codes of rejected writes. */
    refused,
    openList(options: LiveTasksOptions): LiveTasks {
      return createLiveTasks(options, { session, writes, openFeed, time, onWake: () => () => {} });
    },
    create(input: operations.CreateTaskInput): string {
      const started = write();
      const taskId = localIdOf(started.key);
      writes.add({ ...started, kind: 'create', taskId, input }).catch(note);
      return taskId;
    },
    update(taskId: string, input: operations.UpdateTaskInput, ifVersion?: number) {
      writes.add({ ...write(), kind: 'update', taskId, input, ifVersion }).catch(note);
    },
    remove(taskId: string, ifVersion?: number) {
      writes.add({ ...write(), kind: 'delete', taskId, ifVersion }).catch(note);
    },
    pending: () => writes.pending(),
    pass: skip,
    cut() {
      if (streams.size > 0) end(random.pick([...streams]), 'NETWORK');
    },
    cutAll() {
      for (const stream of [...streams]) end(stream, 'NETWORK');
    },
    step,
    /** Delivers all messages, also those that others cause. */
    async arriveAll() {
      while (await step());
    },
    /** Fires the next timer. Returns false if there is none. */
    tick: () => fireNext(),
  };
}
