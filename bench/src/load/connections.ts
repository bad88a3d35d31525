import { Client } from 'undici';
import { quantile } from '../figures.ts';
import type { Cell } from '../operations.ts';
import { send, type Account } from './call.ts';
import { graphqlCalls } from './graphql-calls.ts';
import { inTurns } from './paced.ts';
import type { Population } from './population.ts';
import { restCalls } from './rest-calls.ts';

/** What a stretch of load showed. */
export interface LoadFigures {
  requests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

export type Workload = Pick<Cell, 'operation' | 'protocol'>;

/**
 * Opens keep-alive connections, each with an account of its own, and looks once at what each gets. Several addresses are
 * taken by turns.
 * @throws when an answer is wrong
 */
export async function openConnections(urls: string | readonly string[], workload: Workload, population: Population) {
  const accounts = workload.operation === 'create' ? population.writers : population.readers;
  const nextUrl = inTurns([urls].flat());
  const connections = accounts.map((account) => openConnection(nextUrl(), workload, account));
  await Promise.all(connections.map((connection) => connection.inspect()));
  const nextConnection = inTurns(connections);
  return {
    /** Keeps every connection busy with one request after the other. @throws on the first wrong answer */
    run: (seconds: number) => runAll(connections, seconds),
    /** One request more, over the next connection. @throws when it fails */
    next: () => nextConnection().next(),
    close: () => Promise.all(connections.map((connection) => connection.close())),
  };
}

/** One connection with an account of its own. */
export function openConnection(url: string, { operation, protocol }: Workload, account: Account) {
  const callOf = (protocol === 'rest' ? restCalls : graphqlCalls)[operation];
  const client = new Client(url);
  let count = 0;
  const next = async () => void (await send(client, callOf(account, count++)));

  return {
    /** Looks once at what it gets. @throws when it is wrong */
    async inspect() {
      const call = callOf(account, count++);
      const text = await send(client, call);
      if (call.isRight(JSON.parse(text))) return;
      throw new Error(`${operation} over ${protocol} at ${url} answered something unexpected: ${text.slice(0, 500)}`);
    },
    next,
    keepBusy: (untilMs: number) => keepBusy(next, untilMs),
    close: () => client.close(),
  };
}

/** One request after the other until then, by `performance.now()`. Their latencies in milliseconds. */
export async function keepBusy(next: () => Promise<void>, untilMs: number): Promise<number[]> {
  const latencies: number[] = [];
  for (let begin = performance.now(); begin < untilMs;) {
    await next();
    const end = performance.now();
    latencies.push(end - begin);
    begin = end;
  }
  return latencies;
}

/** Keeps every connection busy for so long. @throws on the first wrong answer */
export async function runAll(
  connections: readonly { keepBusy(untilMs: number): Promise<number[]> }[],
  seconds: number,
): Promise<LoadFigures> {
  const start = performance.now();
  const all = (await Promise.all(connections.map((each) => each.keepBusy(start + seconds * 1_000)))).flat();
  const took = (performance.now() - start) / 1_000;
  return { requests: all.length, seconds: took, p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99) };
}
