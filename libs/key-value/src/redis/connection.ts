import type { Log } from '@taskmesh/service';
import { ReplyError, type Redis } from 'ioredis';
import { createCircuit, FAILURES_TO_OPEN } from './circuit.ts';
import { createClient, createGiveUp, inTime } from './client.ts';
import { createOutage } from './outage.ts';
import { isReadOnly, isReplica, READ_ONLY } from './refusal.ts';
import type { RedisConfig } from './settings.ts';

/** Lets an idle process detect a frozen Redis, too. */
const HEARTBEAT_MS = 2_000;

export interface RedisConnection {
  redis: Redis;
  /** Runs a command; returns `otherwise` when Redis is unavailable, too slow, or refuses. Never rejects. */
  attempt: <Answer, Otherwise>(command: () => Promise<Answer>, otherwise: Otherwise) => Promise<Answer | Otherwise>;
  isUp(): boolean;
  close(): void;
}

export interface RedisConnectionOptions extends RedisConfig {
  log: Log;
}

export function createRedisConnection(options: RedisConnectionOptions): RedisConnection {
  const { log } = options;
  const redis = createClient(options);
  const giveUp = createGiveUp(redis);
  const circuit = createCircuit();
  const outage = createOutage(log);
  let closed = false;
  let reason: unknown;
  let cannotWrite = false;

  redis.on('error', (error) => (reason = error));
  redis.on('close', () => {
    if (!closed) outage.began(reason ?? new Error('Redis closed the connection'));
    reason = undefined;
  });
  const noteReady = async () => {
    cannotWrite = await inTime(isReplica(redis)).catch(() => false);
    if (cannotWrite) outage.began(new Error(READ_ONLY));
    else if (!circuit.isOpen()) outage.ended();
  };
  let checking: Promise<void> | undefined;
  redis.on('ready', () => {
    checking = noteReady().finally(() => (checking = undefined));
  });

  // The first calls wait for the connection, so that a process need not wait for it at start.
  let opening: Promise<unknown> | undefined = inTime(redis.connect())
    .catch(() => undefined)
    .finally(() => (opening = undefined));

  const isUp = () => !closed && redis.status === 'ready' && !checking && !cannotWrite && !circuit.isOpen();

  const attempt: RedisConnection['attempt'] = async (command, otherwise) => {
    if (opening) await opening;
    if (checking) await checking;
    if (!isUp()) return otherwise;
    try {
      const answer = await inTime(command());
      noteAnswer();
      return answer;
    } catch (error) {
      if (error instanceof ReplyError) {
        noteAnswer();
        if (isReadOnly(error)) reason = error;
        else outage.refused(error);
      } else if (circuit.failed() && !closed) {
        outage.began(error);
        giveUp(); // it may be dead for good
      }
      return otherwise;
    }
  };

  const noteAnswer = () => {
    circuit.succeeded();
    if (!circuit.isOpen()) outage.ended();
  };

  const ask = async () => {
    for (let count = 0; count < FAILURES_TO_OPEN; count += 1) {
      if (await attempt(() => redis.ping(), null)) return;
    }
  };
  // Connects to a replica anew: it may have been promoted, or the address leads to the primary now.
  const heartbeat = setInterval(() => (cannotWrite ? giveUp() : void ask()), HEARTBEAT_MS).unref();

  return {
    redis,
    attempt,
    isUp,
    close() {
      closed = true;
      clearInterval(heartbeat);
      redis.disconnect();
    },
  };
}
