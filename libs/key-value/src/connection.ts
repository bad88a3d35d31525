import { backoffMs, withDeadline, type Backoff, type Log, type Refusal } from '@taskmesh/service';
import { Redis, ReplyError } from 'ioredis';
import { createOutage, isReadOnly, isReplica, READ_ONLY, refusalOf } from './refusals.ts';
import type { RedisConfig } from './settings.ts';

const RESPONSE_TIMEOUT_MS = 200;
/** Only frees commands that got no response: callers have abandoned them by then, unless this process was too busy. */
const COMMAND_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_000;
/** How long closing a connection may take before it is destroyed, because a frozen peer never closes its side. */
const DISCONNECT_TIMEOUT_MS = 200;
const RECONNECT: Backoff = { firstMs: 50, maxMs: 1_000 };

/** A client without a queue: while disconnected, commands fail at once. It always reconnects. */
function createClient({ url, tls }: RedisConfig): Redis {
  return new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    maxLoadingRetryTime: RECONNECT.maxMs,
    keepAlive: 10_000,
    disableClientInfo: true,
    ...(url.startsWith('rediss:') && { tls: { ...tls } }),
    retryStrategy: (times) => backoffMs(times, RECONNECT, Math.random), // spreads the reconnects of many processes
    // The primary has become a replica; the address will lead to the new primary.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
}

function inTime<Result>(response: Promise<Result>): Promise<Result> {
  return withDeadline(response, RESPONSE_TIMEOUT_MS, () => new Error(`No response within ${RESPONSE_TIMEOUT_MS} ms`));
}

const FAILURES_TO_OPEN = 3;
const CHECK_MS = 2_000;
/** Written while writes are refused, to notice when they are accepted again. */
const PROBE = 'taskmesh:probe';

/** Opens for a while after a few consecutive failures, so that callers do not wait for a store that does not respond. */
function createCircuit(openMs: number) {
  let failures = 0;
  let openUntil = -Infinity;
  const isOpen = () => performance.now() < openUntil;
  return {
    isOpen,
    succeeded() {
      failures = 0;
    },
    /** Returns whether this failure opened the circuit. */
    failed() {
      // Failures of calls that were in flight when the circuit opened mean nothing new.
      if (isOpen() || ++failures < FAILURES_TO_OPEN) return false;
      failures = 0;
      openUntil = performance.now() + openMs;
      return true;
    },
  };
}

export type RedisConnection = ReturnType<typeof createRedisConnection>;

export interface RedisConnectionOptions extends RedisConfig {
  log: Log;
  /** How often an idle process checks for a frozen Redis, and how long it does not use Redis after failures. @default 2_000 */
  checkMs?: number;
}

export function createRedisConnection(options: RedisConnectionOptions) {
  const { log, checkMs = CHECK_MS } = options;
  const redis = createClient(options);
  /** Reconnects. */
  const giveUp = () => {
    if (redis.status === 'ready') redis.disconnect(true);
  };
  const circuit = createCircuit(checkMs);
  const outage = createOutage(log);
  let isClosed = false;
  let reason: unknown;
  let cannotWrite = false;
  let refusesWrites = false; // it is full, or cannot persist: reads go on

  redis.on('error', (error) => (reason = error));
  redis.on('close', () => {
    if (!isClosed) outage.began(reason ?? new Error('Redis closed the connection'));
    reason = undefined;
  });
  const noteReady = async () => {
    cannotWrite = await inTime(isReplica(redis)).catch(() => false);
    if (cannotWrite) outage.began(new Error(READ_ONLY));
    else if (!circuit.isOpen()) outage.ended();
  };
  let checking: Promise<void> | undefined;
  redis.on('ready', () => {
    refusesWrites = false;
    checking = noteReady().finally(() => (checking = undefined));
  });

  // The first calls wait for the connection, so that the process need not wait for it at startup.
  let opening: Promise<unknown> | undefined = inTime(redis.connect())
    .catch(() => undefined)
    .finally(() => (opening = undefined));

  const isUp = () => !isClosed && redis.status === 'ready' && !checking && !cannotWrite && !circuit.isOpen();

  /** Runs a command; returns `fallback` if Redis is unavailable, too slow, or refuses the command. Never rejects. */
  const attempt = async <Result, Fallback>(command: () => Promise<Result>, fallback: Fallback, writes = false) => {
    if (opening) await opening;
    if (checking) await checking;
    if (!isUp()) return fallback;
    try {
      const response = await inTime(command());
      noteResponse();
      refusesWrites &&= !writes;
      return response;
    } catch (error) {
      if (error instanceof ReplyError) {
        noteResponse();
        if (isReadOnly(error)) reason = error;
        else outage.refused(error);
        refusesWrites ||= writes && !isReadOnly(error);
      } else if (circuit.failed() && !isClosed) {
        outage.began(error);
        giveUp(); // the connection may never recover
      }
      return fallback;
    }
  };

  const noteResponse = () => {
    circuit.succeeded();
    if (!circuit.isOpen()) outage.ended();
  };

  const ping = async () => {
    for (let count = 0; count < FAILURES_TO_OPEN; count += 1) {
      const writes = refusesWrites;
      if (await attempt(() => (writes ? redis.set(PROBE, '', 'PX', 1_000) : redis.ping()), null, writes)) return;
    }
  };
  // Reconnects to a replica: it may have been promoted, or the address may lead to the primary now.
  const heartbeat = setInterval(() => (cannotWrite ? giveUp() : void ping()), checkMs).unref();

  return {
    redis,
    attempt,
    isUp: () => isUp() && !refusesWrites,
    close() {
      isClosed = true;
      clearInterval(heartbeat);
      redis.disconnect();
    },
  };
}

const PROBE_TIMEOUT_MS = 3_000;

/** A Redis user may lack the permission to read the server's role. */
async function connectAndPing(redis: Redis): Promise<boolean> {
  await redis.connect();
  await redis.ping();
  return isReplica(redis).catch(() => false);
}

/** Tries to connect once; returns undefined if Redis can be used. */
export async function findRedisProblem(config: RedisConfig): Promise<Refusal | undefined> {
  const redis = createClient(config);
  const { promise: failed, reject } = Promise.withResolvers<never>();
  redis.once('error', reject);
  redis.once('close', () => reject(new Error('the connection is closed')));
  const response = Promise.race([failed, connectAndPing(redis)]);
  try {
    const cannotWrite = await withDeadline(response, PROBE_TIMEOUT_MS, () => new Error('no response in time'));
    return cannotWrite ? refusalOf(new Error(READ_ONLY)) : undefined;
  } catch (error) {
    return refusalOf(error);
  } finally {
    redis.on('error', () => undefined);
    redis.disconnect();
  }
}
