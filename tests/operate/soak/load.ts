import { createRandom } from '@taskmesh/testing';
import { HANDSHAKE, openRaw, rawGraphQL, rawRequest, statusOf } from '@taskmesh/testing/raw';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAccount, type Account } from '../../faults/account.ts';
import { createGraphql, createRest, PASSWORD, register } from '../../http.ts';

/** How long lists are read alone before all other load begins. */
const ALONE_MS = 20_000;

/** The start and the end of a request for a list (`performance.now()`). */
export type RequestTimes = Record<'from' | 'to', number>;

/** Does everything that clients do at once: writes, feeds of every protocol, lists, logins, refused upgrades, stalled readers. */
export async function startLoad(urls: string[], seed: number) {
  const random = createRandom(seed);
  const url = urls[0] ?? '';
  const accounts: Account[] = [];
  const { token, email } = await register(url);
  const counts: Record<string, number> = {};
  /** Requests of a client unrelated to the misbehaving ones: first alone, then during all other load. */
  const lists: Record<'alone' | 'beside', RequestTimes[]> = { alone: [], beside: [] };
  let asked = lists.alone;
  /** Responses that must not occur. */
  const surprises: string[] = [];
  const ending = new AbortController();

  const again = async (name: string, everyMs: number, work: () => Promise<string | undefined>) => {
    while (!ending.signal.aborted) {
      const surprise = await work().catch((error: unknown) => String(error));
      if (surprise !== undefined) surprises.push(`${name}: ${surprise}`);
      counts[name] = (counts[name] ?? 0) + 1;
      await sleep(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const asking = again('list', 50, async () => {
    const from = performance.now();
    const surprise = await list(url, token);
    asked.push({ from, to: performance.now() });
    return surprise;
  });
  await sleep(ALONE_MS);
  asked = lists.beside;
  for (let index = 0; index < 3; index++)
    accounts.push(await createAccount({ urls, name: `soak-${seed}-${index}`, random, paceMs: 150 }));
  const running = [
    asking,
    again('query', 100, () => query(url, token, (counts['query'] ?? 0) + 1)),
    again('login', 2_000, () => signInAndOut(url, email)),
    again('refused upgrade', 50, () => refusedUpgrade(url, '/nothing')),
    again('refused token', 200, () => refusedUpgrade(url, '/realtime/v1/websocket')),
    again('slow reader', 5_000, () => slowReader(url, token, ending.signal)),
  ];

  return {
    accounts,
    counts,
    lists,
    surprises,
    async stop() {
      ending.abort();
      await Promise.all([...running, ...accounts.map((account) => account.stopWriting())]);
    },
  };
}

async function list(url: string, token: string): Promise<string | undefined> {
  const { status } = await createRest(url)('GET', '/tasks?sortBy=priority', { token });
  return status === 200 ? undefined : String(status);
}

/** Sends a unique document, because the memory that documents leave behind must be bounded. */
async function query(url: string, token: string, count: number): Promise<string | undefined> {
  const tasks = 'tasks(first: 10) { edges { node { id title owner { name } } } totalCount }';
  const { errors } = await createGraphql(url)(`query Soak${count} { me { id${count}: id } ${tasks} }`, { token });
  return errors && JSON.stringify(errors);
}

async function signInAndOut(url: string, email: string): Promise<string | undefined> {
  const rest = createRest(url);
  const body = { email, password: PASSWORD, refresh: true };
  const session = await rest<{ refresh_token: string }>('POST', '/auth/login', { body });
  const refresh = { refresh_token: session.body.refresh_token };
  const refreshed = await rest<{ access_token: string }>('POST', '/auth/refresh', { body: refresh });
  const ended = await rest('POST', '/auth/logout', { token: refreshed.body.access_token });
  const statuses = [session, refreshed, ended].map(({ status }) => status);
  return statuses.every((status) => status === 200) ? undefined : statuses.join();
}

/** Reads the refusal, sends one more byte and disconnects. */
async function refusedUpgrade(url: string, path: string): Promise<string | undefined> {
  const socket = await openRaw(url, rawRequest(`GET ${path}`, HANDSHAKE));
  await statusOf(socket);
  socket.write('x', () => socket.destroy());
  return /^HTTP\/1\.1 [14]/.test(socket.response) ? undefined : socket.response.slice(0, 80);
}

/** Subscribes, and then reads nothing for a while. */
async function slowReader(url: string, token: string, signal: AbortSignal): Promise<string | undefined> {
  const query = 'subscription { taskChanges { cursor task { id title owner { name } } } }';
  const headers = [`Authorization: Bearer ${token}`, 'Accept: text/event-stream'];
  const socket = await openRaw(url, rawGraphQL({ query }, ...headers));
  socket.pause();
  await sleep(30_000, undefined, { signal }).catch(() => undefined);
  socket.destroy();
  return undefined;
}
