import { createClient, createMemoryStorage, type Client, type LiveTasks, type Storage } from '@taskmesh/client';
import { createFaultyProxy, type FaultyProxy } from '@taskmesh/testing';
import { type Account, createGraphql, logIn } from '../http.ts';

export type Transport = 'graphql-ws' | 'sse';

/** A client with a live list of all tasks, and a connection to the product that can be cut. */
export interface Device {
  client: Client;
  list: LiveTasks;
  network: FaultyProxy;
  close(): Promise<void>;
}

export interface DeviceOptions {
  /** The URL of the product. */
  url: string;
  transport: Transport;
  storage?: Storage;
}

export async function createDevice(options: DeviceOptions): Promise<Device> {
  const { url, transport, storage = createMemoryStorage() } = options;
  const { hostname: host, port } = new URL(url);
  const network = await createFaultyProxy({ host, port: Number(port) });
  const client = createClient({ url: `http://${network.host}:${network.port}`, transport, storage, timeoutMs: 2_000 });
  const list = client.liveTasks({ orderBy: { field: 'UPDATED_AT', direction: 'DESC' }, first: 1_000 });
  const stop = list.subscribe(() => {});
  return {
    client,
    list,
    network,
    async close() {
      stop();
      client.close();
      await network.close();
    },
  };
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
