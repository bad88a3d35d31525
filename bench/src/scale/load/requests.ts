import { openConnection } from '../../load/connections.ts';
import type { Population } from '../../load/population.ts';
import type { Operation } from '../../operations.ts';

/** Connections of an operation over REST, spread over the gateways; answers are checked. */
export interface Requests {
  /** One request more, over the next connection. @throws when its answer is wrong */
  next(): Promise<void>;
  close(): Promise<void>;
}

export async function openRequests(
  urls: readonly string[],
  operation: Operation,
  { readers, writers }: Population,
): Promise<Requests> {
  const accounts = operation === 'create' ? writers : readers;
  const connections = accounts.map((account, index) =>
    openConnection(urls[index % urls.length] ?? '', { operation, protocol: 'rest' }, account),
  );
  await Promise.all(connections.map((connection) => connection.inspect()));
  let turn = 0;
  return {
    next: async () => connections[turn++ % connections.length]?.next(),
    close: async () => void (await Promise.all(connections.map((connection) => connection.close()))),
  };
}
