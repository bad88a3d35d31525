import type { Stack } from '@taskmesh/local';
import { eventually } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGraphql, createRest, PASSWORD } from '../http.ts';
import { queryStore } from '../stack.ts';
import { openStream, type ReadList, type Stream } from '../feed/streams/stream.ts';
import type { Protocol } from '../feed/streams/protocols.ts';
import { readListAt } from './account.ts';
import type { Write } from './write.ts';
import { startWriter } from './writer.ts';

export interface GuestOptions {
  stack: Stack;
  /** A unique name, which occurs in everything that the guest writes. */
  name: string;
  random: () => number;
  protocols: Protocol[];
  /** The initial number of tasks. More than one statement can delete make the deletion last longer. */
  tasks: number;
  /** How long the guest writes before it is deleted. */
  staysMs: number;
}

/** An account that was deleted while it was writing, and a record of what happened to it. */
export interface Guest {
  name: string;
  email: string;
  ownerId: string;
  tokens: { access: string; refresh: string; personal: string };
  /** The list before the first write. */
  list: ReadList;
  writes: Write[];
  streams: Stream[];
  /** When it signed up, when its deletion was requested, and when that was confirmed (`performance.now()`). */
  cameAt: number;
  sentAt: number;
  deletedAt: number;
  /** Attempts to delete it that got no response or a 503. */
  lostResponses: number;
  /** Events that must not occur, even during faults. */
  surprises: string[];
}

const AGAIN_AFTER_MS = 200;
/** A request without a response in this time counts as unanswered: services give up earlier. */
const TIMEOUT_MS = 20_000;
const ENDS_WITHIN_MS = 60_000;
const WRITERS = 2;
const PACE_MS = 40;
/** Matches the messages of the protocols at the end of a session or a feed. */
const ENDINGS =
  /UNAUTHENTICATED|InvalidJWTToken|answered 401|closed with 440[13]|session has ended|began again|place in the feed was lost/;

/** Creates an account, writes and reads with it, and deletes it while it does so, all during faults. */
export async function hostGuest(options: GuestOptions): Promise<Guest> {
  const { stack, name, random, protocols, tasks, staysMs } = options;
  const { urls } = stack;
  const email = `${name}@example.com`;
  const surprises: string[] = [];
  const surprise = (what: string) => void surprises.push(`${name}: ${what}`);
  const cameAt = performance.now();
  const anyUrl = () => urls[Math.floor(random() * urls.length)] ?? '';
  const patiently = <Result>(ask: () => Promise<Result>) =>
    eventually(ask, { timeoutMs: 120_000, everyMs: AGAIN_AFTER_MS });

  const { accessToken: access, refreshToken: refresh, user } = await patiently(() => signIn(anyUrl(), { email, name }));
  const ownerId = user.id;
  if (tasks > 0) await patiently(() => fill(stack, { ownerId, name, tasks }));
  const personal = await patiently(() => createToken(anyUrl(), { access, name }));
  await patiently(() => requestReset(anyUrl(), email));
  const list = await patiently(() => readListAt(anyUrl(), access));

  let isDoomed = false;
  const shared = { urls, token: access, isDoomed: () => isDoomed };
  const streams = await Promise.all(protocols.map((protocol) => openStream({ ...protocol, ...shared, list })));
  const writes: Write[] = [];
  const living = [...list.tasks.keys()];
  const writers = Array.from({ length: WRITERS }, (_, index) =>
    startWriter({ ...shared, name: `${name}.${index}`, random, paceMs: PACE_MS, living, writes }),
  );
  await sleep(staysMs);

  isDoomed = true;
  const sentAt = performance.now();
  let lostResponses = 0;
  for (;;) {
    const answer = await deleteAccount(anyUrl(), access);
    // After a 401, an earlier attempt without a response must have succeeded.
    if (answer === 200 || (answer === 401 && lostResponses > 0)) break;
    if (answer === undefined || answer === 503) lostResponses++;
    else surprise(`its deletion failed with ${answer}`);
    await sleep(AGAIN_AFTER_MS);
  }
  const deletedAt = performance.now();

  const haveEnded = () => streams.every((stream) => stream.ending() !== undefined);
  await eventually(haveEnded, { timeoutMs: ENDS_WITHIN_MS }).catch(() => surprise('its streams did not end'));
  const late = sleep(ENDS_WITHIN_MS, 'late', { ref: false });
  const outcome = await Promise.race([Promise.all(writers.map(({ ended }) => ended)), late]);
  if (outcome === 'late') surprise('it can still write');
  await Promise.all([...writers.map((writer) => writer.stop()), ...streams.map((stream) => stream.close())]);
  for (const stream of streams) {
    const { protocol, failures } = stream;
    for (const failure of failures) surprise(`${protocol}: ${failure}`);
    const ending = stream.ending();
    if (ending !== undefined && !ENDINGS.test(ending)) surprise(`${protocol} ended with ${ending}`);
  }
  for (const writer of writers) surprises.push(...writer.surprises);
  const tokens = { access, refresh, personal };
  return { name, email, ownerId, tokens, list, writes, streams, cameAt, sentAt, deletedAt, lostResponses, surprises };
}

interface Session {
  accessToken: string;
  refreshToken: string;
  user: { id: string };
}

const SESSION = '{ accessToken refreshToken user { id } }';
const SIGN_UP = `mutation ($input: SignUpInput!) { session: signUp(input: $input) ${SESSION} }`;
const LOG_IN = `mutation ($input: LoginInput!) { session: login(input: $input) ${SESSION} }`;

/** Signs up, or signs in if an earlier sign-up without a response succeeded. @throws if neither works now */
export async function signIn(url: string, { email, name }: { email: string; name: string }): Promise<Session> {
  const ask = async (query: string, more = {}) => {
    const variables = { input: { email, password: PASSWORD, ...more } };
    const { data, errors } = await createGraphql(url)<{ session?: Session } | null>(query, { variables });
    if (data?.session) return data.session;
    throw new Error(`Signing in failed with ${JSON.stringify(errors)}.`);
  };
  return ask(SIGN_UP, { name: name.slice(0, 50) }).catch(() => ask(LOG_IN));
}

/** Returns the status of the response; undefined without a response. */
export async function deleteAccount(url: string, token: string): Promise<number | undefined> {
  const asked = createRest(url)('DELETE', '/auth/profile', { token, body: { password: PASSWORD } });
  const late = sleep(TIMEOUT_MS, undefined, { ref: false });
  return (await Promise.race([asked.catch(() => undefined), late]))?.status;
}

/** Returns the status of a login. */
export async function canLogIn(url: string, email: string): Promise<number> {
  return (await createRest(url)('POST', '/auth/login', { body: { email, password: PASSWORD } })).status;
}

async function createToken(url: string, { access, name }: { access: string; name: string }): Promise<string> {
  const body = { name: `of ${name}`, scope: 'write', expires_at: new Date(Date.now() + 86_400_000).toISOString() };
  const made = await createRest(url)<{ token: string }>('POST', '/auth/tokens', { token: access, body });
  if (made.status !== 201) throw new Error(`Creating a token failed with ${made.status}.`);
  return made.body.token;
}

async function requestReset(url: string, email: string): Promise<void> {
  const { status } = await createRest(url)('POST', '/auth/forgot-password', { body: { email } });
  if (status >= 400) throw new Error(`The recovery mail failed with ${status}.`);
}

/** Inserts tasks as if they had always existed. Safe to repeat. */
function fill(stack: Stack, { ownerId, name, tasks }: { ownerId: string; name: string; tasks: number }) {
  return queryStore(
    stack,
    'tasks',
    `with filled as (
       insert into tasks (id, user_id, title, completed, priority, created_at, updated_at)
       select md5($2 || n)::uuid, $1, $2 || ' filled ' || n, false, 'low', at, at
       from generate_series(1, $3::int) n, lateral (select now() - interval '1 day' + n * interval '1 second' as at) t
       on conflict do nothing
       returning 1
     )
     insert into feeds as f (owner_id, sequence, tasks) select $1, 0, count(*) from filled
     on conflict (owner_id) do update set tasks = f.tasks + excluded.tasks`,
    [ownerId, name, tasks],
  );
}
