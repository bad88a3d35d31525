import { type Log, networkOf, type Service, siteOf } from '@taskmesh/service';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Some of the largest answers, whose whole size counts until the system has taken all of it. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

const accounts = new WeakMap<IncomingMessage, string>();
const uncounted = new WeakSet<ServerResponse>();

/** Whose request it is, for the limit on what all of an account leave unread. */
export const noteAccount = (request: IncomingMessage, userId: string): void => void accounts.set(request, userId);

/** For a response whose bytes are shared by all who read them, or counted elsewhere. */
export const leaveUncounted = (response: ServerResponse): void => void uncounted.add(response);

export const holderOf = (
  request: IncomingMessage,
  clientIp: (request: IncomingMessage) => string,
): Pick<Reader, 'network' | 'account'> => ({
  network: siteOf(networkOf(clientIp(request))),
  account: accounts.get(request),
});

export interface UnreadAnswersDeps {
  log: Log;
  clientIp: (request: IncomingMessage) => string;
  maxBytes?: number;
}

/** Limits what all clients together have not read of their answers over HTTP. Sockets and streams have a budget of their own. */
export function limitUnreadAnswers(
  server: Server,
  { log, clientIp, maxBytes = MAX_UNREAD_BYTES }: UnreadAnswersDeps,
): Service {
  /** Those being sent, not all connections: thousands may be idle. A response has a socket while it is its turn. */
  const current = new Set<ServerResponse>();
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (response.socket) current.add(response);
    else response.once('socket', () => current.add(response));
  });

  const waiting = () => {
    const found: { socket: Socket; request: IncomingMessage }[] = [];
    for (const response of current) {
      const { socket, req: request } = response;
      if (!socket || socket.destroyed || uncounted.has(response)) current.delete(response);
      else if (socket.writableLength > 0) found.push({ socket, request });
    }
    return found;
  };
  return createUnreadBudget({
    maxBytes,
    waitingBytes: () => waiting().reduce((sum, { socket }) => sum + socket.writableLength, 0),
    readers: () =>
      waiting().map(({ socket, request }) => ({
        waitingBytes: socket.writableLength,
        ...holderOf(request, clientIp),
        cut: () => void socket.destroy(),
      })),
    log,
    what: 'answers',
  });
}

const LOOK_EVERY_MS = 100;
/** Cutting stops at this share of the budget, so that the next change does not start it again. */
const RELIEVED_SHARE = 0.75;

/** A connection with bytes that may be waiting to be read. */
export interface Reader {
  readonly waitingBytes: number;
  readonly network: string;
  /** Undefined when it is not known: the connection then counts alone. */
  readonly account?: string | undefined;
  /** Ends it at once and drops what waits. */
  cut(): void;
}

export interface UnreadBudgetDeps {
  /** For all connections together. */
  maxBytes: number;
  waitingBytes: () => number;
  readers: () => Reader[];
  log: Log;
  /** What is waited for, in the log. */
  what: string;
}

/**
 * Limits what waits for slow readers in total: each has a limit of its own, but there may be thousands of them. Whose
 * network has the most waiting is cut first, of that the account with the most, of that the connection with the most: a
 * client is not cut for other accounts or networks that have more waiting, but may be cut for its own requests, even if it
 * reads, as the system takes large writes in whole.
 */
export function createUnreadBudget({ maxBytes, waitingBytes, readers, log, what }: UnreadBudgetDeps): Service {
  const look = () => {
    let waiting = waitingBytes();
    if (waiting <= maxBytes) return;
    let cut = 0;
    for (const reader of greediestFirst(readers())) {
      if (waiting <= maxBytes * RELIEVED_SHARE) break;
      waiting -= reader.waitingBytes;
      reader.cut();
      cut++;
    }
    log.warn({ cut, maxBytes }, `too much waited for slow readers of ${what}: those with the most were cut off`);
  };

  let timer: NodeJS.Timeout | undefined;
  return {
    async start() {
      timer = setInterval(look, LOOK_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
    },
  };
}

function greediestFirst(readers: Reader[]): Reader[] {
  const ofNetwork = totalsBy(readers, ({ network }) => network);
  const ofAccount = totalsBy(readers, (reader) => reader.account ?? reader);
  return readers.toSorted(
    (one, other) =>
      ofNetwork(other) - ofNetwork(one) || ofAccount(other) - ofAccount(one) || other.waitingBytes - one.waitingBytes,
  );
}

function totalsBy(readers: Reader[], keyOf: (reader: Reader) => unknown): (reader: Reader) => number {
  const totals = new Map<unknown, number>();
  for (const reader of readers) totals.set(keyOf(reader), (totals.get(keyOf(reader)) ?? 0) + reader.waitingBytes);
  return (reader) => totals.get(keyOf(reader)) ?? 0;
}
