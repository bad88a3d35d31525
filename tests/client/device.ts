import { createClient, createMemoryStorage } from '@taskmesh/client';
import { atEnd, createFaultyProxy } from '@taskmesh/testing';
import { type Account, createGraphql, logIn } from '../http.ts';

export type Transport = 'graphql-ws' | 'sse';

export type Device = Awaited<ReturnType<typeof createDevice>>;

/** Creates a client with a live list of all tasks, and a connection to the product at `url` that can be cut. */
export async function createDevice(url: string, transport: Transport = 'graphql-ws', storage = createMemoryStorage()) {
  const { hostname: host, port } = new URL(url);
  const network = await createFaultyProxy({ host, port: Number(port) });
  const client = createClient({ url: `http://${network.host}:${network.port}`, transport, storage, timeoutMs: 2_000 });
  const list = client.liveTasks({ orderBy: { field: 'UPDATED_AT', direction: 'DESC' }, first: 1_000 });
  const stop = list.subscribe(() => {});
  atEnd(() => {
    stop();
    client.close();
  });
  return { client, list, network };
}

export interface Row {
  id: string;
  title: string;
  version: number;
}

export function shownBy({ list }: Device): Row[] {
  return list.get().tasks.map(({ id, title, version }) => ({ id, title, version }));
}

/** Reads the list over GraphQL without the client. */
export async function readList(url: string, account: Account): Promise<Row[]> {
  const { token } = await logIn(url, account);
  const query =
    '{ tasks(first: 1000, orderBy: { field: UPDATED_AT, direction: DESC }) { edges { node { id title version } } } }';
  const { data } = await createGraphql(url)<{ tasks: { edges: { node: Row }[] } }>(query, { token });
  return data.tasks.edges.map(({ node }) => node);
}
