import { inDatabase } from '@taskmesh/store';
import { connect, disconnect } from '@taskmesh/store/connection';
import { atEnd, createTestDatabase } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { DEFAULT_SIZES } from '../../src/archives/limits.ts';
import { createFreshDatabase, dropFresh } from '../../src/databases/fresh-database.ts';
import { restoreNames } from '../../src/databases/names.ts';
import { loadLimits } from '../../src/restore/watch-database.ts';

export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connect({ url, name: 'taskmesh-test' });
  try {
    return await work(client);
  } finally {
    await disconnect(client);
  }
}

/** Runs a statement on a connection like those of the product. */
export const query = (url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> =>
  withClient(url, async (client) => (await client.query(text, values)).rows);

/** Returns the URL for a role with the password `secret`. */
export const asRole = (url: string, role: string): string =>
  Object.assign(new URL(url), { username: role, password: 'secret' }).href;

/** Creates a live database and an empty one beside it, as a restore does. The URLs are for the loader role and the administrator. */
export async function createFreshTestDatabase(name: string) {
  const live = await createTestDatabase(name);
  const names = restoreNames(live.name, randomBytes(6).toString('hex'));
  const loaderUrl = await createFreshDatabase(live.url, names, loadLimits(DEFAULT_SIZES));
  atEnd(() => dropFresh(live.url, names));
  return { live, names, loaderUrl, adminUrl: inDatabase(live.url, names.fresh) };
}
