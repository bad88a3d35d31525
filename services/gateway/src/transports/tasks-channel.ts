import {
  AppError,
  TASK_FIELDS,
  type ColumnType,
  type TaskChanged,
  type TaskImage,
  type TaskRow,
} from '@taskmesh/contracts';
import { ACCESS_TOKEN_TYPE, EXPIRED_TOKEN_GRACE_S, isPersonalToken } from '@taskmesh/identity';
import { createRealtimeServer, type Change, type Column, type RealtimeServer } from '@taskmesh/realtime-protocol';
import { networkOf, siteOf } from '@taskmesh/service';
import { decodeProtectedHeader } from 'jose';
import type { Feed } from '../feed/feed.ts';
import { holdMessage } from '../http/client-request.ts';
import { MAX_PARTS, memoryOf, partsOf } from '../http/json-body.ts';
import { perChange } from '../realtime-metrics.ts';
import type { AccountShares } from '../subscriptions/account-shares.ts';
import type { TransportDeps } from './transport.ts';

/** The type names that clients use. */
const TYPES = {
  uuid: 'uuid',
  text: 'text',
  boolean: 'bool',
  integer: 'int4',
  'timestamptz(3)': 'timestamptz',
} as const satisfies Record<ColumnType, Column['type']>;

const FIELDS = Object.entries(TASK_FIELDS) as [keyof TaskImage, (typeof TASK_FIELDS)[keyof TaskImage]][];

const TASKS = { name: 'tasks', columns: FIELDS.map(([, { column, type }]) => ({ name: column, type: TYPES[type] })) };

/** The changes of tasks for clients of Supabase Realtime. */
export function createTasksChannel(deps: TransportDeps & { feed: Feed; shares: AccountShares }): RealtimeServer {
  const { context, feed, shares, watch, reserveUser, limitAge, heartbeats, metrics } = deps;
  const { anonKey, maxSubscriptions, maxSocketsPerUser, maxMessagesPerS } = context.config.realtime;
  return createRealtimeServer({
    table: TASKS,
    tokens: {
      publicKey: anonKey,
      isOfUser,
      async verify(token, ip) {
        const caller = await context.authenticateToken(token, { ipOf: () => ip, graceS: EXPIRED_TOKEN_GRACE_S });
        if (caller.kind !== 'user') return undefined;
        const { identity, claims } = caller;
        return { id: identity.userId, expiresAt: claims.exp, watch: (onEnd) => watch(claims, onEnd) };
      },
    },
    async subscribe(owner, after, reader) {
      try {
        return await feed.subscribe(owner, after, {
          ...reader,
          onChange: (change) => reader.onChange(asRowChange(change)),
        });
      } catch (error) {
        if (error instanceof AppError && error.code === 'CURSOR_EXPIRED') return 'cursor expired';
        throw error;
      }
    },
    limits: {
      channels: maxSubscriptions,
      bindings: maxSubscriptions * maxSocketsPerUser,
      messagesPerSecond: maxMessagesPerS,
    },
    takeChannel: (bytes, ip) => (context.memory.isShort() ? undefined : shares.takeRoom(siteOf(networkOf(ip)), bytes)),
    reserve(message, ip) {
      const parts = partsOf(message);
      const size = memoryOf(message, parts);
      return parts > MAX_PARTS ? 'invalid' : holdMessage(context.memory, size, ip);
    },
    compile: (work, ip) => context.blockingWork.run(networkOf(ip), work),
    takeSocket: reserveUser,
    limitAge,
    heartbeats,
    metrics: {
      subscribed: () => metrics.subscribed('channel'),
      failed: (reason) => metrics.failed('channel', reason),
      delivered: (change, since) => metrics.delivered('channel', change, since),
    },
    now: context.clock.now,
    isTemporary,
    log: context.log,
  });
}

/** Unavailable services come back, so clients may retry. */
export const isTemporary = (error: unknown) => error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE';

/** Checks only the form or type: the token is not verified. */
function isOfUser(token: string): boolean {
  if (isPersonalToken(token)) return true;
  try {
    return decodeProtectedHeader(token).typ === ACCESS_TOKEN_TYPE;
  } catch {
    return false;
  }
}

const asRowChange = perChange(({ kind, task, previous, occurredAt, cursor, traceparent }: TaskChanged): Change => ({
  ...{ kind, occurredAt, cursor, traceparent },
  record: rowOf(task),
  oldRecord: previous && rowOf(previous),
}));

const rowOf = (task: TaskImage) =>
  Object.fromEntries(FIELDS.map(([name, { column }]) => [column, task[name]])) as TaskRow; // one for each column
