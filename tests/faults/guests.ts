import type { Stack } from '@taskmesh/local';
import { eventually } from '@taskmesh/testing';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRest } from '../http.ts';
import { PROTOCOLS } from '../feed/streams/protocols.ts';
import { readListAt } from './account.ts';
import type { DoneFault } from './campaign.ts';
import { canLogIn, deleteAccount, hostGuest, signIn, type Guest } from './guest.ts';
import { contradictions } from './history.ts';
import type { Published } from './published.ts';
import { wrongRemains } from './remains.ts';
import type { Write } from './write.ts';

export interface GuestsOptions {
  stack: Stack;
  /** The data directory of the stack. */
  dataDir: string;
  published: Published;
  /** A unique text that occurs in everything that the guests write, and nowhere else. */
  mark: string;
  random: () => number;
  /** The number of guests at a time. @default 3 */
  rooms?: number;
}

const STAY_MS = { least: 500, max: 4_000 };
/** Numbers of tasks: each statement of a deletion removes 25. */
const TASKS = [0, 250, 450];
const GONE_WITHIN_MS = 90_000;
const REFUSED_WITHIN_MS = 15_000;

/** Keeps creating accounts that write, read and are deleted, several at a time, until stopped. */
export function hostGuests({ stack, mark, random, rooms = 3 }: GuestsOptions) {
  const ending = new AbortController();
  const guests: Guest[] = [];
  let count = 0;
  const host = async () => {
    while (!ending.signal.aborted) {
      const number = count++;
      const protocols = [0, 2].flatMap((offset) => PROTOCOLS[(number + offset) % PROTOCOLS.length] ?? []);
      const staysMs = STAY_MS.least + random() * (STAY_MS.max - STAY_MS.least);
      const tasks = TASKS[number % TASKS.length] ?? 0;
      guests.push(await hostGuest({ stack, name: `${mark}-${number}`, random, protocols, tasks, staysMs }));
    }
  };
  const hosting = Promise.all(Array.from({ length: rooms }, host));
  return {
    /** Resolves when all guests are deleted. */
    async stop(): Promise<Guest[]> {
      ending.abort();
      await hosting;
      return guests;
    },
  };
}

/** Reports everything that contradicts a complete and clean deletion of these accounts. Call it without faults. */
export async function contradictingGuests(guests: Guest[], faults: DoneFault[], options: GuestsOptions) {
  const { stack, dataDir, published, mark } = options;
  const ids = guests.map(({ ownerId }) => ownerId);
  const [last] = guests.slice(-1);
  if (last) ids.push(await comeAgain(last, options));
  const atLast = async (look: () => Promise<string[]>) => {
    let found = ['not looked at'];
    const isNothing = async () => (found = await look()).length === 0;
    await eventually(isNothing, { timeoutMs: GONE_WITHIN_MS, everyMs: 500 }).catch(() => undefined);
    return found;
  };
  const remains = await atLast(() => wrongRemains(stack, { ids, mark }));
  const undelivered = await atLast(async () =>
    guests.flatMap((guest) => (wasWiped(faults, guest) ? [] : endContradictions(guest, published))),
  );
  const entries = await Promise.all(guests.map((guest) => openDoors(guest, stack.urls)));
  return [
    ...guests.flatMap(({ surprises }) => surprises),
    ...remains.map((what) => `left: ${what}`),
    ...undelivered,
    ...guests.flatMap(streamContradictions),
    ...entries.flat(),
    ...unmailed(guests, join(dataDir, 'mail')),
  ];
}

/** Whether Kafka came back empty since the guest signed up. Its changes are then deleted everywhere, and cannot be checked. */
const wasWiped = (faults: DoneFault[], { cameAt }: Guest) =>
  faults.some(({ kind, at = -Infinity }) => kind === 'wipe' && at > cameAt);

/** Returns the guest's writes, and a DELETE of each task by the deletion of the account. */
function historyOf({ name, ownerId, writes, sentAt }: Guest, ids: Iterable<string>) {
  const unknown = { outcome: 'unknown', sentAt, answeredAt: Infinity } as const;
  const ends = [...ids].map((taskId): Write => ({ kind: 'DELETE', taskId, ...unknown }));
  return { owner: name, ownerId, writes: [...writes, ...ends], tasks: new Map<string, string>() };
}

/** Checks that Kafka has each change once and in order, followed by a DELETE of each remaining task, oldest first. */
function endContradictions(guest: Guest, published: Published): string[] {
  const { name, list, writes } = guest;
  const changes = published.of(guest.ownerId);
  const ids = new Set([...list.tasks.keys(), ...changes.map(({ task }) => task.id)]);
  const reading = { list, changes: changes.map((change) => ({ ...change, seenAt: 0 })) };
  const found = contradictions({ ...historyOf(guest, ids), streams: new Map([['Kafka', [reading]]]) });

  const own = new Set(writes.flatMap(({ kind, taskId }) => (kind === 'DELETE' && taskId ? [taskId] : [])));
  const isEnd = ({ kind, task }: (typeof changes)[number]) => kind === 'DELETE' && !own.has(task.id);
  const first = changes.findIndex(isEnd);
  const end = first < 0 ? [] : changes.slice(first);
  const ages = end.filter(isEnd).map(({ task }) => task.createdAt);
  return [
    ...found.map(({ fault, what }) => `${fault}: ${what}`),
    ...(String(ages) === String(ages.toSorted()) ? [] : [`${name}: its tasks were not deleted by their age`]),
    ...end.flatMap(({ kind, sequence }) => (kind === 'DELETE' ? [] : [`${name}: ${kind} ${sequence} behind its end`])),
  ];
}

/** Checks what the guest's own streams delivered until they ended with its sessions. */
function streamContradictions(guest: Guest): string[] {
  const { streams } = guest;
  const readings = new Map(streams.map((stream) => [stream.protocol, stream.readings]));
  const all = streams.flatMap((stream) => stream.readings);
  const ids = all.flatMap(({ list, changes }) => [...list.tasks.keys(), ...changes.map(({ task }) => task.id)]);
  const found = contradictions({ ...historyOf(guest, new Set(ids)), streams: readings, endsEarly: true });
  return found.map(({ fault, what }) => `${fault}: ${what}`);
}

/** Reports tokens of the guest that a gateway still accepts. */
async function openDoors({ name, tokens }: Guest, urls: string[]): Promise<string[]> {
  const open: string[] = [];
  for (const url of urls) {
    const rest = createRest(url);
    const body = { refresh_token: tokens.refresh };
    const responses = [
      ['its access token', await rest('GET', '/tasks', { token: tokens.access })],
      ['its personal token', await rest('GET', '/tasks', { token: tokens.personal })],
      ['its refresh token', await rest('POST', '/auth/refresh', { body })],
    ] as const;
    for (const [what, { status }] of responses) if (status !== 401) open.push(`${name}: ${what} is answered ${status}`);
  }
  return open;
}

/** Signs up with the address of a deleted account, which must be a new account, and deletes it, too. Returns its id. */
async function comeAgain({ name, email, ownerId, list }: Guest, { stack, random }: GuestsOptions): Promise<string> {
  const url = stack.urls[Math.floor(random() * stack.urls.length)] ?? '';
  expect(await canLogIn(url, email)).toBe(401);
  const { accessToken: token, user } = await signIn(url, { email, name });
  expect(user.id).not.toBe(ownerId);
  expect((await readListAt(url, token)).tasks.size).toBe(0);
  for (const { protocol, connect } of PROTOCOLS) {
    const said = Promise.withResolvers<string>();
    const refused = () => said.resolve('refused');
    const disconnect = connect(
      { url, token, after: list.cursor },
      {
        onSubscribed: () => undefined,
        onChange: (change) => said.resolve(`a change: ${JSON.stringify(change)}`),
        onCursor: () => undefined,
        onExpired: refused,
        onLostPosition: refused,
        onFailure: refused,
        onEnd: () => undefined,
      },
    );
    const late = sleep(REFUSED_WITHIN_MS, 'silence', { ref: false });
    expect([protocol, await Promise.race([said.promise, late])]).toEqual([protocol, 'refused']);
    disconnect();
  }
  expect(await deleteAccount(url, token)).toBe(200);
  return user.id;
}

/** Reports guests without a last mail. (A process that dies after sending it, but before recording that, sends it twice.) */
function unmailed(guests: Guest[], folder: string): string[] {
  const mails = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const isLast = (mail: string, { email }: Guest) =>
    mail.includes(`To: ${email}`) && mail.includes('Your Taskmesh account was deleted');
  return guests.flatMap((guest) =>
    mails.some((mail) => isLast(mail, guest)) ? [] : [`${guest.name}: no mail says that it is gone`],
  );
}
