import { Client } from 'undici';
import type { Cell } from '../operations.ts';
import type { Call } from './call.ts';
import { graphqlCalls } from './graphql-calls.ts';
import type { Account, Population } from './population.ts';
import { restCalls } from './rest-calls.ts';

/** One connection with an account of its own. */
export interface Connection {
  /** Looks once at what it gets. @throws when it is wrong */
  inspect(): Promise<void>;
  /** One request more. @throws when it fails */
  next(): Promise<void>;
  /** One request after the other until then, by `performance.now()`. Their latencies in milliseconds. */
  keepBusy(untilMs: number): Promise<number[]>;
  close(): Promise<void>;
}

/** What a stretch of load showed. Latencies in milliseconds, of single requests, in no order. */
export interface Stretch {
  requests: number;
  seconds: number;
  latenciesMs: number[];
}

export interface Connections {
  /** Keeps every connection busy with one request after the other. @throws on the first wrong answer */
  run(seconds: number): Promise<Stretch>;
  close(): Promise<void>;
}

type Workload = Pick<Cell, 'operation' | 'protocol'>;

/**
 * Opens keep-alive connections, each with an account of its own, and looks once at what each gets.
 * @throws when an answer is wrong
 */
export async function openConnections(url: string, workload: Workload, population: Population): Promise<Connections> {
  const accounts = workload.operation === 'create' ? population.writers : population.readers;
  const connections = accounts.map((account) => openConnection(url, workload, account));
  await Promise.all(connections.map((connection) => connection.inspect()));
  return {
    async run(seconds) {
      const start = performance.now();
      const latencies = await Promise.all(connections.map(({ keepBusy }) => keepBusy(start + seconds * 1000)));
      const latenciesMs = latencies.flat();
      return { requests: latenciesMs.length, seconds: (performance.now() - start) / 1000, latenciesMs };
    },
    close: async () => {
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}

export function openConnection(url: string, { operation, protocol }: Workload, account: Account): Connection {
  const callOf = (protocol === 'rest' ? restCalls : graphqlCalls)[operation];
  const client = new Client(url);
  let count = 0;

  const send = async (call: Call): Promise<string> => {
    const { method, path, token, body } = call;
    const headers = {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const response = await client.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.body.text();
    // GraphQL tells of failures with status 200.
    const isFailure = response.statusCode !== call.status || (protocol === 'graphql' && text.includes('"errors":'));
    if (isFailure) throw wrong(`${response.statusCode} ${text.slice(0, 500)}`);
    return text;
  };
  const wrong = (answer: string) => new Error(`${operation} over ${protocol} at ${url} answered ${answer}`);

  return {
    async inspect() {
      const call = callOf(account, count++);
      const text = await send(call);
      if (!call.isRight(JSON.parse(text))) throw wrong(`something unexpected: ${text.slice(0, 500)}`);
    },
    next: async () => void (await send(callOf(account, count++))),
    async keepBusy(untilMs) {
      const latencies: number[] = [];
      for (let begin = performance.now(); begin < untilMs;) {
        await send(callOf(account, count++));
        const end = performance.now();
        latencies.push(end - begin);
        begin = end;
      }
      return latencies;
    },
    close: () => client.close(),
  };
}
