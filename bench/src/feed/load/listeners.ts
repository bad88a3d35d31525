import type { Speech } from '../cells.ts';
import type { User } from '../users.ts';
import { nowMs } from './clock.ts';
import { conversations } from './conversations.ts';
import { openSocket, type OpenSocket } from './open-socket.ts';

/** So many connect at the same time. */
const AT_ONCE = 50;

export interface Recording {
  /** Numbers of the changes as they arrived, and beside each the time. */
  numbers: number[];
  times: number[];
  /** @throws when a socket got something out of order or twice, or was closed */
  check(): void;
}

export interface ListenerOptions {
  url: string;
  speech: Speech;
  users: User[];
  socketsPerOwner: number;
}

/** All sockets of a cell, and what they get; who is named twice has twice as many. */
export async function openListeners({ url, speech, users, socketsPerOwner }: ListenerOptions) {
  const lasts = new Map<string, number[]>();
  const sockets: OpenSocket[] = [];
  let failure: Error | undefined;
  let recording: Recording | undefined;
  const fail = (error: Error) => (failure ??= error);

  const openOne = async (user: User, last: number[]) => {
    const index = last.push(0) - 1;
    const onChange = (n: number) => {
      if (n <= (last[index] ?? 0)) fail(new Error(`A socket got change ${n} behind ${last[index]}.`));
      last[index] = n;
      recording?.numbers.push(n);
      recording?.times.push(nowMs());
    };
    sockets.push(await openSocket(url, conversations[speech](user), { onChange, onEnd: fail }));
  };

  const waiting = users.flatMap((user) => {
    const last = lasts.get(user.id) ?? [];
    lasts.set(user.id, last);
    return Array.from({ length: socketsPerOwner }, () => () => openOne(user, last));
  });
  const close = async () => void (await Promise.all(sockets.map((socket) => socket.close())));
  try {
    while (waiting.length > 0) await Promise.all(waiting.splice(0, AT_ONCE).map((open) => open()));
  } catch (error) {
    await close();
    throw error;
  }
  const check = () => {
    if (failure) throw failure;
  };
  return {
    /** From now on: how often each socket has got something, and when; a change that comes twice or too late is an error. */
    record: (): Recording => (recording = { numbers: [], times: [], check }),
    /** The number of the last change that each socket of an owner has. */
    lastOf: (ownerId: string) => lasts.get(ownerId) ?? [],
    close,
  };
}
