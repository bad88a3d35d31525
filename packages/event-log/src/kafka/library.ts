import type { Socket } from 'node:net';
import kafkajs, { type ISocketFactory, type Kafka, type logCreator, type Logger as LibraryLogger } from 'kafkajs';
import { createLogger } from 'kafkajs/src/loggers/index.js';
import createSocketFactory from 'kafkajs/src/network/socketFactory.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import type { Logger } from '../event-log.ts';
import type { ClientSettings } from './config.ts';

/** Messages below this level are not even formatted. */
const LIBRARY_LOG_LEVEL = kafkajs.logLevel.WARN;

/**
 * kafkajs logs each failed attempt as an error. Each one also rejects a promise, and we log it where it matters, so the
 * library's own lines are for debugging only.
 */
function libraryLog(log: Logger): logCreator {
  return () =>
    ({ namespace, log: entry }) => {
      const { message, timestamp: _, logger: _name, stack: _stack, ...fields } = entry;
      log.debug({ ...fields, part: namespace }, `kafkajs: ${message}`);
    };
}

export function createLibraryLogger(log: Logger): LibraryLogger {
  return createLogger({ level: LIBRARY_LOG_LEVEL, logCreator: libraryLog(log) });
}

const patched = Symbol.for('kafkajs.idle-timer-patch');

/**
 * kafkajs 2.2.4 keeps a 1 ms timer running on every idle connection (issues 1556, 1704), and Node 24 warns about its
 * negative delay (1751). Only a queue with pending requests needs the timer.
 */
export function patchIdleTimer(): void {
  const queue: typeof RequestQueue.prototype & { [patched]?: true } = RequestQueue.prototype;
  if (queue[patched]) return;
  queue[patched] = true;
  const schedule = queue.scheduleCheckPendingRequests;
  queue.scheduleCheckPendingRequests = function () {
    if (this.pending.length > 0) schedule.call(this);
  };
}

/**
 * The sockets of one client, which can be destroyed at once. The library's own disconnect waits for responses, and after a
 * timeout keeps the socket (pull request 1783): with a frozen or unreachable broker, either takes minutes.
 */
export function createSockets() {
  const create = createSocketFactory();
  const open = new Set<Socket>();
  let cutBecause: string | undefined;

  return {
    factory(options: Parameters<ISocketFactory>[0]) {
      if (cutBecause !== undefined) throw new Error(cutBecause);
      const socket = create(options);
      socket.setNoDelay(true);
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      return socket;
    },
    /** Fails pending requests at once. No new socket is opened afterwards. */
    cut(reason: string) {
      cutBecause = reason;
      // The library handles "error" events, but not "close".
      for (const socket of open) socket.destroy(new Error(reason));
    },
  };
}

export interface ClientOptions {
  brokers: string[];
  settings: ClientSettings;
  requestTimeoutMs: number;
  log: Logger;
}

/** Creates a kafkajs client whose sockets can be cut. The client tries each given broker once. */
export function createClient({ brokers, settings, requestTimeoutMs, log }: ClientOptions): {
  kafka: Kafka;
  cut: (reason: string) => void;
} {
  const sockets = createSockets();
  const kafka = new kafkajs.Kafka({
    ...settings,
    brokers,
    requestTimeout: requestTimeoutMs,
    retry: { retries: brokers.length - 1, initialRetryTime: 10, maxRetryTime: 100 },
    socketFactory: sockets.factory,
    logLevel: LIBRARY_LOG_LEVEL,
    logCreator: libraryLog(log),
  });
  return { kafka, cut: sockets.cut };
}
