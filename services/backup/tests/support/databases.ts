import { inDatabase } from '@taskmesh/store';
import { connect, disconnect } from '@taskmesh/store/connection';
import { atEnd, createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { DEFAULT_SIZES } from '../../src/archives/limits.ts';
import { createFreshDatabase, dropFresh } from '../../src/databases/fresh-database.ts';
import { restoreNames, type RestoreNames } from '../../src/databases/names.ts';
import { loadLimits } from '../../src/restore/watch-database.ts';

export async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = await connect({ url, name: 'taskmesh-test' });
  try {
    return await work(client);
  } finally {
    await disconnect(client);
  }
}

export interface FreshTestDatabase {
  live: TestDatabase;
  names: RestoreNames;
  /** Connects as the loader role. */
  loaderUrl: string;
  /** Connects as the administrator. */
  adminUrl: string;
}

/** Creates a live database and an empty one beside it, as a restore does. */
export async function createFreshTestDatabase(name: string): Promise<FreshTestDatabase> {
  const live = await createTestDatabase(name);
  const names = restoreNames(live.name, randomBytes(6).toString('hex'));
  const loaderUrl = await createFreshDatabase(live.url, names, loadLimits(DEFAULT_SIZES));
  atEnd(() => dropFresh(live.url, names));
  return {
    live,
    names,
    loaderUrl,
    adminUrl: inDatabase(live.url, names.fresh),
  };
}
