import { eventually } from '@taskmesh/testing';
import { createGraphql, newAccount, register } from '../http.ts';
import { PROTOCOLS, type Protocol } from '../feed/streams/protocols.ts';
import { openStream, type ReadList, type Stream } from '../feed/streams/stream.ts';
import { contradictions } from './history.ts';
import type { Restore, Write } from './write.ts';
import { startWriter } from './writer.ts';

export interface AccountOptions {
  /** The URLs of the gateways. */
  urls: string[];
  name: string;
  random: () => number;
  /** The number of concurrent writers. @default 2 */
  writers?: number;
  /** The average pause of each writer between two writes. */
  paceMs: number;
  /** @default PROTOCOLS */
  protocols?: Protocol[];
  /** Whether the store may be restored. Streams that are notified of it then read the list again. */
  isRestored?: boolean;
}

/** An account with its writers and a stream of every protocol, which reconnects whenever it is cut off. */
export type Account = Awaited<ReturnType<typeof createAccount>>;

/** The time from a write's response to its event in a stream; 0 if the event arrived first. */
export interface Latency {
  /** `performance.now()` */
  answeredAt: number;
  ms: number;
}

const SETTLE_TIMEOUT_MS = 60_000;

export async function createAccount(options: AccountOptions) {
  const { urls, name, random, writers: writerCount = 2, paceMs, protocols = PROTOCOLS, isRestored = false } = options;
  const { token, id: ownerId } = await register(urls[0] ?? '', newAccount(), name.slice(0, 50));
  let asked = 0;
  const readList = () => readListAt(urls[asked++ % urls.length] ?? '', token);
  const list = await readList();
  const openFrom = (protocol: Protocol, index: number) =>
    openStream({
      ...{ ...protocol, token, list, urls: [...urls.slice(index % urls.length), ...urls] },
      ...(isRestored && { readList }),
    });
  const streams = await Promise.all(protocols.map(openFrom));
  const living: string[] = [];
  const writes: Write[] = [];
  const restores: Restore[] = [];
  const writers = Array.from({ length: writerCount }, (_, index) =>
    startWriter({ urls, token, name: `${name}.${index}`, random, paceMs, living, writes }),
  );

  /** Resolves when every stream has reached the cursor of the list, and thus delivered the last change. */
  const settled = async () => {
    const { cursor } = await eventually(readList, { timeoutMs: SETTLE_TIMEOUT_MS });
    const areThere = () => streams.every((stream) => stream.cursor() === cursor);
    return eventually(areThere, { timeoutMs: SETTLE_TIMEOUT_MS });
  };

  return {
    ownerId,
    streams,
    /** Call this after a restore, so that the writers use the tasks of the restored list. */
    async restored(restore: Restore) {
      restores.push(restore);
      const { tasks } = await eventually(readList, { timeoutMs: SETTLE_TIMEOUT_MS });
      living.splice(0, Infinity, ...tasks.keys());
    },
    async stopWriting() {
      await Promise.all(writers.map((writer) => writer.stop()));
    },
    /** Waits until every stream has delivered the last write, and then reports the promises that were not kept. */
    async verdict() {
      const isSettled = await settled().then(Boolean, () => false); // the comparison reports what is missing
      const { tasks } = await eventually(readList, { timeoutMs: SETTLE_TIMEOUT_MS });
      const titles = new Map([...tasks].map(([id, { title }]) => [id, title]));
      const readings = new Map(streams.map((stream) => [stream.protocol, stream.readings]));
      return {
        contradictions: contradictions({ owner: name, ownerId, writes, restores, streams: readings, tasks: titles }),
        /** Responses and ends of streams that must not occur, even during faults. */
        surprises: [
          ...(isSettled ? [] : [`${name}: the streams did not reach the end of the feed`]),
          ...writers.flatMap(({ surprises }) => surprises),
          ...streams.flatMap(({ protocol, failures }) => failures.map((failure) => `${name}, ${protocol}: ${failure}`)),
        ],
      };
    },
    figures() {
      const count = (outcome: Write['outcome']) => writes.filter((write) => write.outcome === outcome).length;
      return {
        confirmed: count('confirmed'),
        denied: count('denied'),
        /** Writes with an unknown outcome. */
        unknown: count('unknown'),
        /** Responses that refuse a write for now, such as 503. */
        refused: writers.reduce((sum, { counts }) => sum + counts.refused, 0),
        /** Creates that were retried with their idempotency keys. */
        retried: writers.reduce((sum, { counts }) => sum + counts.retried, 0),
        streams: streams.map((stream) => ({
          protocol: stream.protocol,
          events: stream.changes().length,
          resumes: stream.resumes(),
          /** The longest time from a write's response to its event. */
          longestMs: Math.max(0, ...latenciesOf(stream, writes).map(({ ms }) => ms)),
        })),
      };
    },
    latencies: () => streams.flatMap((stream) => latenciesOf(stream, writes)),
    async close() {
      await Promise.all([...writers.map((writer) => writer.stop()), ...streams.map((stream) => stream.close())]);
    },
  };
}

function latenciesOf(stream: Stream, writes: Write[]): Latency[] {
  const confirmed = writes.filter(({ title, outcome }) => title !== undefined && outcome === 'confirmed');
  const answers = new Map(confirmed.map(({ title, answeredAt }) => [title, answeredAt]));
  return stream.changes().flatMap(({ kind, task, seenAt }) => {
    const answeredAt = kind === 'DELETE' ? undefined : answers.get(task.title);
    return answeredAt === undefined ? [] : [{ answeredAt, ms: Math.max(0, seenAt - answeredAt) }];
  });
}

const LIST = '{ tasks(first: 500) { edges { node { id title version } } changesCursor } }';

/** Reads the list with its cursor. @throws if the server cannot return it now */
export async function readListAt(url: string, token: string): Promise<ReadList> {
  const { data, errors } = await createGraphql(url)<{
    tasks: { edges: { node: { id: string; title: string; version: number } }[]; changesCursor: string };
  }>(LIST, { token });
  if (errors) throw new Error(`The list failed with ${JSON.stringify(errors)}.`);
  const { edges, changesCursor } = data.tasks;
  const tasks = new Map(edges.map(({ node: { id, title, version } }) => [id, { title, version }]));
  return { tasks, cursor: changesCursor, readAt: performance.now() };
}
