import { setTimeout as sleep } from 'node:timers/promises';

export interface SeenTask {
  id: string;
  ownerId: string;
  title: string;
  version: number;
}

/** One change as a client received it, over any protocol. */
export interface StreamedChange {
  kind: 'INSERT' | 'UPDATE' | 'DELETE';
  task: SeenTask;
  previous: SeenTask | null;
  /** Undefined if the protocol has no sequence. */
  sequence: number | undefined;
  /** `performance.now()` */
  seenAt: number;
}

/** An account's list, as read by a client. */
export interface ReadList {
  tasks: ReadonlyMap<string, Pick<SeenTask, 'title' | 'version'>>;
  /** The cursor of the feed at the time of the list. */
  cursor: string;
  /** The `performance.now()` of the response. */
  readAt: number;
}

/** The list of a new account. */
export const EMPTY_LIST: ReadList = { tasks: new Map(), cursor: '', readAt: -Infinity };

/** A list, and the changes that a client received after it until it had to read the list again. */
export interface Reading {
  list: ReadList;
  /** All changes since, in the order of arrival. */
  changes: StreamedChange[];
}

/** A client that reads one account's feed, and resumes with its cursor whenever it is cut off. */
export type Stream = Awaited<ReturnType<typeof openStream>>;

/** The events of a connection. */
export interface Listener {
  /** The subscription is established. */
  onSubscribed(): void;
  onChange(change: Omit<StreamedChange, 'seenAt'>): void;
  /** Moves the client to this cursor. */
  onCursor(cursor: string): void;
  /** The feed has ended, so no change may follow, and the client must read the list again. */
  onExpired(): void;
  /** The feed continues, but not from the client's cursor, so the client must read the list again. */
  onLostPosition(): void;
  /** The server sent an error after which a client should not come back. */
  onFailure(what: string): void;
  /** The connection has ended for any reason. May be called more than once. */
  onEnd(): void;
}

export interface ConnectionOptions {
  /** The URL of a gateway. */
  url: string;
  token: string;
  after: string | undefined;
}

/** Opens a connection and a subscription that starts after `after`. The returned function breaks the connection. */
export type Connect = (options: ConnectionOptions, listener: Listener) => () => void;

export interface StreamOptions {
  protocol: string;
  connect: Connect;
  /** The URLs of the gateways, used in turn. */
  urls: string[];
  token: string;
  /** The list after which the stream starts. */
  list: ReadList;
  /** Reads the list again. If absent, a feed that begins again is a failure. */
  readList?: () => Promise<ReadList>;
  /** Whether the protocol sends cursors only after batches of changes, so that changes after the last cursor are repeated. */
  repeatsBehindCursor?: boolean;
  /** Whether the account is being deleted: errors after which a client does not return then end the stream, without a failure. */
  isDoomed?: () => boolean;
}

const AGAIN_AFTER_MS = 100;
/** A client tries another gateway if a subscription is not established in this time. */
const STANDING_WITHIN_MS = 15_000;
/** How long a client still listens to a feed that has ended. */
const LINGER_MS = 300;

/** Reads a feed until closed. Resolves when the subscription is established for the first time. */
export async function openStream(options: StreamOptions) {
  const { protocol, connect, urls, token, readList, repeatsBehindCursor = false, isDoomed = () => false } = options;
  let reading: Reading = { list: options.list, changes: [] };
  const readings = [reading];
  const failures: string[] = [];
  let ending: string | undefined;
  const closing = new AbortController();
  const fail = (what: string) => {
    if (!isDoomed()) return void failures.push(what);
    ending ??= what;
    closing.abort();
    tear();
  };
  const firstStanding = Promise.withResolvers<void>();
  let cursor: string | undefined = options.list.cursor || undefined;
  /** The number of changes received after the cursor. */
  let behindCursor = 0;
  let connections = 0;
  let awayMs = AGAIN_AFTER_MS;
  let tear = () => {};

  /** Resolves with true if the list must be read again. */
  const readOnce = async (url: string): Promise<boolean> => {
    const ended = Promise.withResolvers<void>();
    const over = new AbortController();
    let repeats = repeatsBehindCursor ? behindCursor : 0;
    let isExpired = false;
    let hasLostPlace = false;
    const standing = setTimeout(() => tear(), STANDING_WITHIN_MS);
    const end = () => {
      over.abort(); // the client never sees what was still in the buffers of a broken connection
      ended.resolve();
    };
    const whileOpen =
      <Args extends unknown[]>(work: (...args: Args) => void) =>
      (...args: Args) => {
        if (!over.signal.aborted) work(...args);
      };
    const disconnect = connect(
      { url, token, after: cursor },
      {
        onSubscribed: whileOpen(() => {
          clearTimeout(standing);
          firstStanding.resolve();
        }),
        onChange: whileOpen((change) => {
          if (isExpired) return failures.push(`a change behind the end of its feed: ${JSON.stringify(change)}`);
          const repeated = repeats > 0 ? reading.changes.at(-repeats) : undefined;
          if (repeated) repeats--;
          if (repeated && isSame(repeated, change)) return undefined;
          behindCursor++;
          return reading.changes.push({ ...change, seenAt: performance.now() });
        }),
        onCursor: whileOpen((next) => {
          if (isExpired) return;
          cursor = next;
          behindCursor = repeats; // repeated changes come first, so normally none are left
        }),
        onExpired: whileOpen(() => {
          isExpired = true;
          if (!readList) fail('the feed began again');
          setTimeout(end, LINGER_MS);
        }),
        onLostPosition: whileOpen(() => {
          hasLostPlace = true;
          if (!readList) fail('the place in the feed was lost');
        }),
        onFailure: whileOpen(fail),
        onEnd: () => isExpired || end(),
      },
    );
    tear = () => {
      end();
      disconnect();
    };
    await ended.promise;
    clearTimeout(standing);
    disconnect();
    return isExpired || hasLostPlace;
  };

  const pause = (forMs: number) => sleep(forMs, undefined, { signal: closing.signal }).catch(() => undefined);

  const rereadList = async (read: () => Promise<ReadList>) => {
    while (!closing.signal.aborted) {
      const list = await read().catch(() => undefined);
      if (!list) await pause(AGAIN_AFTER_MS);
      else {
        reading = { list, changes: [] };
        readings.push(reading);
        cursor = list.cursor;
        behindCursor = 0;
        return;
      }
    }
  };

  const run = async () => {
    while (!closing.signal.aborted) {
      const mustReread = await readOnce(urls[connections++ % urls.length] ?? '');
      const pauseMs = awayMs;
      awayMs = AGAIN_AFTER_MS;
      await pause(pauseMs);
      if (mustReread && readList) await rereadList(readList);
    }
  };
  const running = run();
  await firstStanding.promise;

  return {
    protocol,
    readings,
    /** Events and errors that must not occur. */
    failures,
    /** The changes of all readings. */
    changes: () => readings.flatMap(({ changes }) => changes),
    /** The error that ended the stream for good during the deletion of its account. */
    ending: () => ending,
    /** The last cursor that the client received. */
    cursor: () => cursor,
    /** The number of reconnects. */
    resumes: () => Math.max(connections - 1, 0),
    /** Breaks the connection, as a network does. The client comes back after `forMs`. */
    cut(forMs: number) {
      awayMs = forMs;
      tear();
    },
    async close() {
      closing.abort();
      tear();
      await running;
    },
  };
}

function isSame(one: Omit<StreamedChange, 'seenAt'>, other: Omit<StreamedChange, 'seenAt'>): boolean {
  return one.kind === other.kind && one.task.id === other.task.id && one.task.version === other.task.version;
}
