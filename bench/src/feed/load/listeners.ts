import type { Speech } from '../cells.ts';
import type { User } from '../users.ts';
import { nowMs } from './clock.ts';
import { conversations } from './conversations.ts';
import { openSocket, type OpenSocket } from './open-socket.ts';

/** So many connect at the same time. */
const AT_ONCE = 50;

/** All sockets of a cell, and what they get. */
export interface Listeners {
  /** From now on: how often each socket has got something, and when; a change that comes twice or too late is an error. */
  record(): Recording;
  /** The number of the last change that each socket of an owner has. */
  lastOf(ownerId: string): number[];
  close(): Promise<void>;
}

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

export async function openListeners({ url, speech, users, socketsPerOwner }: ListenerOptions): Promise<Listeners> {
  const lasts = new Map<string, number[]>();
  const sockets: OpenSocket[] = [];
  let failure: Error | undefined;
  let recording: Recording | undefined;
  const fail = (error: Error) => (failure ??= error);

  const openOne = async (user: User, index: number, last: number[]) => {
    last[index] = 0;
    const onChange = (n: number) => {
      if (n <= (last[index] ?? 0)) fail(new Error(`A socket got change ${n} behind ${last[index]}.`));
      last[index] = n;
      recording?.numbers.push(n);
      recording?.times.push(nowMs());
    };
    sockets.push(await openSocket(url, conversations[speech](user), { onChange, onEnd: fail }));
  };

  const waiting = users.flatMap((user) => {
    const last: number[] = [];
    lasts.set(user.id, last);
    return Array.from({ length: socketsPerOwner }, (_, index) => () => openOne(user, index, last));
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
    record: () => (recording = { numbers: [], times: [], check }),
    lastOf: (ownerId) => lasts.get(ownerId) ?? [],
    close,
  };
}
