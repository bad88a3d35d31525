import { badUserInput } from '@taskmesh/contracts';
import type { AuthRestore, TasksRestore } from '@taskmesh/internal-api';
import { inDatabase } from '@taskmesh/store';
import type { Client } from 'pg';
import { withAdmin } from './connect.ts';

/** The stores that are backed up; each belongs to the service of that name. */
export const STORE_NAMES = ['tasks', 'auth'] as const;

export type StoreName = (typeof STORE_NAMES)[number];

/** The optional methods do not concern every store: they handle data that a restore must not undo, and followers. */
export type StoreOwner = Pick<AuthRestore, 'importDatabase' | 'compare' | 'resume'> &
  Partial<Pick<AuthRestore, 'carryOverAhead' | 'carryOver'> & Pick<TasksRestore, 'newEpoch'>>;

export interface Store {
  name: StoreName;
  /** An administrator that may create databases and roles; the path names the live database. */
  adminUrl: string;
  owner: StoreOwner;
}

/** The dump that every archive contains, wherever it was made. */
export const MAIN_DUMP = 'database.sql';

export const DUMP_FILES: Record<StoreName, string> = { tasks: MAIN_DUMP, auth: 'auth.sql' };

export function createStores(
  adminUrls: Record<StoreName, string>,
  owners: Record<StoreName, StoreOwner>,
): Record<StoreName, Store> {
  const store = (name: StoreName): Store => ({ name, adminUrl: adminUrls[name], owner: owners[name] });
  return { tasks: store('tasks'), auth: store('auth') };
}

const KNOWN_STORES = STORE_NAMES.join(', ');

/** Returns the named stores without duplicates; undefined if there is no list. @throws AppError BAD_USER_INPUT */
export function parseStoreNames(names: readonly string[] | null | undefined): StoreName[] | undefined {
  if (names === null || names === undefined) return undefined;
  if (names.length === 0)
    throw refused(`is empty; omit it to select all stores of the archive. There are: ${KNOWN_STORES}.`);
  if (!names.every(isStore)) throw refused(`contains an unknown store. There are: ${KNOWN_STORES}.`);
  return [...new Set(names)];
}

const isStore = (name: string): name is StoreName => STORE_NAMES.some((known) => known === name);

const refused = (why: string) => badUserInput([{ path: 'stores', message: why }], `The list of stores ${why}`);

const MIGRATIONS = 'public.mikro_orm_migrations';

/** The newest migration applied to the store; null for a store made without migrations. */
export async function readSchemaVersion(client: Client): Promise<string | null> {
  const found = await client.query<{ table: string | null }>('select to_regclass($1)::text as table', [MIGRATIONS]);
  if (!found.rows[0]?.table) return null;
  const { rows } = await client.query<{ name: string }>(`select name from ${MIGRATIONS} order by id desc limit 1`);
  return rows[0]?.name ?? null;
}

/** Why `fresh` cannot replace the live store: services of the release that migrated that one could not use an older schema. */
export async function findNewerSchema({ adminUrl }: Store, fresh: string): Promise<string | undefined> {
  const live = await withAdmin(adminUrl, readSchemaVersion);
  const restored = await withAdmin(inDatabase(adminUrl, fresh), readSchemaVersion);
  const isNewer = (live ?? '') > (restored ?? '');
  return isNewer
    ? 'a newer release has migrated it: complete the upgrade, or go back with NEWER_SCHEMA=allow'
    : undefined;
}
