import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool } from 'undici';
import { quantile } from '../run/figures.ts';
import {
  CALLS,
  matches,
  send,
  taskInput,
  TASKS_EACH,
  type Account,
  type Call,
  type Operation,
  type Protocol,
} from './calls.ts';

/** The users of a server. Readers keep exactly `TASKS_EACH` tasks; writers' tasks grow, so their lists are not measured. */
export type Population = Awaited<ReturnType<typeof populate>>;

const PASSWORD = 'a long enough passphrase';

/** Signs up two accounts per connection and creates the readers' tasks, over the server's REST API. */
export async function populate(url: string, connections: number) {
  const client = new Pool(url, { connections });
  const post = async <Body>(path: string, body: object, token?: string): Promise<Body> =>
    JSON.parse(await send(client, { request: `POST ${path}`, body, status: 201, ...(token && { token }) }));
  const signUp = (kind: string) => async (_: unknown, index: number) => {
    const account = { email: `${kind}-${index}@bench.example`, password: PASSWORD };
    const session = await post<{ access_token: string }>('/api/auth/signup', { ...account, name: 'Benchmark' });
    return { ...account, token: session.access_token, taskIds: new Array<string>() };
  };
  const readers = await Promise.all(Array.from({ length: connections }, signUp('reader')));
  const writers = await Promise.all(Array.from({ length: connections }, signUp('writer')));
  const createTasks = async ({ token, taskIds }: Account) => {
    for (let n = 0; n < TASKS_EACH; n++)
      taskIds.push((await post<{ data: { id: string } }>('/api/tasks', taskInput(n), token)).data.id);
  };
  await Promise.all(readers.map(createTasks));
  await client.close();
  return { readers, writers };
}

export type Connection = ReturnType<typeof openConnection>;

/** Opens a keep-alive connection that sends one request at a time. */
export function openConnection(
  url: string,
  callOf: (n: number) => Call,
  check?: (text: string, first: string) => void,
) {
  const client = new Client(url);
  let first = '';
  let count = 0;
  const next = async () => {
    const text = await send(client, callOf(count++));
    check?.(text, first);
  };
  return {
    next,
    /** Compares one response with the expected one. @throws when it differs */
    async inspect() {
      const call = callOf(count++);
      first = await send(client, call);
      if (!matches(JSON.parse(first), call.expected))
        throw new Error(`${call.request} at ${url} sent an unexpected response: ${first.slice(0, 500)}`);
    },
    /** Sends requests until `performance.now()` reaches `untilMs`. Returns their latencies in milliseconds. */
    async keepBusy(untilMs: number): Promise<number[]> {
      const latencies: number[] = [];
      for (let begin = performance.now(); begin < untilMs;) {
        await next();
        const end = performance.now();
        latencies.push(end - begin);
        begin = end;
      }
      return latencies;
    },
    close: () => client.close(),
  };
}

/** Inspects connections and uses them together. @throws when a response is wrong */
export async function useConnections(connections: readonly Connection[]) {
  await Promise.all(connections.map((connection) => connection.inspect()));
  const nextConnection = roundRobin(connections);
  return {
    /** Keeps every connection busy for `seconds`. @throws on the first wrong response */
    async run(seconds: number) {
      const start = performance.now();
      const all = (await Promise.all(connections.map((each) => each.keepBusy(start + seconds * 1_000)))).flat();
      const took = (performance.now() - start) / 1_000;
      return { requests: all.length, seconds: took, p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99) };
    },
    /** Sends one more request over the next connection. @throws when it fails */
    next: () => nextConnection().next(),
    close: async () => void (await Promise.all(connections.map((connection) => connection.close()))),
  };
}

/** Opens a connection for each account of an operation, to one server or in turn to several. */
export function openConnections(
  urls: string | readonly string[],
  operation: Operation,
  protocol: Protocol,
  { readers, writers }: Population,
) {
  const nextUrl = roundRobin([urls].flat());
  const accounts = operation === 'create' ? writers : readers;
  return useConnections(
    accounts.map((account) => openConnection(nextUrl(), (n) => CALLS[protocol][operation](account, n))),
  );
}

/**
 * Sends requests at a fixed rate, however long the responses take: evenly, or with `random` at independent random moments, like
 * many users. Returns latencies in milliseconds from the moment when each request was due, including the wait for a connection.
 * @throws what `send` throws
 */
export async function pace(
  send: () => Promise<unknown>,
  { perSecond, seconds, random }: { perSecond: number; seconds: number; random?: () => number },
): Promise<number[]> {
  const momentOf = (index: number) => (random ? random() * seconds : index / perSecond) * 1_000;
  const moments = Array.from({ length: Math.round(perSecond * seconds) }, (_, index) => momentOf(index));
  const start = performance.now();
  const responses: Promise<number>[] = [];
  const failed = new AbortController();
  for (const moment of moments.toSorted((one, other) => one - other)) {
    const dueMs = start + moment;
    const waitMs = dueMs - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    failed.signal.throwIfAborted();
    const response = send().then(() => performance.now() - dueMs);
    response.catch((error: unknown) => failed.abort(error));
    responses.push(response);
  }
  return Promise.all(responses);
}

/** Returns the items one after the other, then again from the first. @throws when there are none */
export function roundRobin<Item>(items: readonly Item[]): () => Item {
  let next = 0;
  return () => {
    const item = items[next++ % items.length];
    if (item === undefined) throw new Error('There is nothing to take turns with.');
    return item;
  };
}
