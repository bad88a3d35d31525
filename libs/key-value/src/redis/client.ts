import { backoffMs, withDeadline, type Backoff } from '@taskmesh/service';
import { Redis } from 'ioredis';
import type { RedisConfig } from './settings.ts';

const ANSWER_TIMEOUT_MS = 200;
/** Only frees what was never answered: callers have given it up by then, unless this process was too busy to see. */
const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_000;
/** How long closing a connection may take before it is destroyed: a frozen peer never ends it. */
const DISCONNECT_TIMEOUT_MS = 200;
const RECONNECT: Backoff = { firstMs: 50, longestMs: 1_000 };

/** A client without a queue: when disconnected, commands fail at once. Once connected, it reconnects for ever. */
export function createClient({ url, tls }: RedisConfig): Redis {
  return new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    maxLoadingRetryTime: RECONNECT.longestMs,
    keepAlive: 10_000,
    disableClientInfo: true,
    ...(url.startsWith('rediss:') && { tls: { ...tls } }),
    retryStrategy: (times) => backoffMs(times, RECONNECT, Math.random), // spreads the reconnects of many processes
    // The master became a replica; the address will lead to the new master.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}

export function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  return withDeadline(answer, ANSWER_TIMEOUT_MS, () => new Error(`No answer within ${ANSWER_TIMEOUT_MS} ms`));
}

/**
 * How to give up a connection that delivers nothing: once, however many calls notice it, as each time would leave a
 * timer and a listener at its socket.
 */
export function createGiveUp(redis: Redis): () => void {
  let isGivenUp = false;
  redis.on('close', () => (isGivenUp = false));
  return () => {
    if (isGivenUp || redis.status !== 'ready') return;
    isGivenUp = true;
    redis.disconnect(true);
  };
}
