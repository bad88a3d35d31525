import { conflict } from '@taskmesh/contracts';
import type { Client } from 'pg';
import { withAdmin } from './connect.ts';
import type { Store, StoreName } from './store.ts';

const MIGRATIONS = 'public.mikro_orm_migrations';

/** The newest migration applied to the store; null for a store made without migrations. */
export async function readSchemaVersion(client: Client): Promise<string | null> {
  const found = await client.query<{ table: string | null }>('select to_regclass($1)::text as table', [MIGRATIONS]);
  if (!found.rows[0]?.table) return null;
  const { rows } = await client.query<{ name: string }>(`select name from ${MIGRATIONS} order by id desc limit 1`);
  return rows[0]?.name ?? null;
}

export type SchemaVersions = ReadonlyMap<StoreName, string | null>;

/** Of the live stores. */
export async function versionsOf(stores: readonly Store[]): Promise<SchemaVersions> {
  const versions = new Map<StoreName, string | null>();
  for (const { name, adminUrl } of stores) versions.set(name, await withAdmin(adminUrl, readSchemaVersion));
  return versions;
}

/**
 * The new stores are made for the services as they were then: those of a newer release would find an older schema.
 * @throws AppError CONFLICT when a live store was migrated since
 */
export async function refuseMigrated(stores: readonly Store[], since: SchemaVersions): Promise<void> {
  for (const [name, version] of await versionsOf(stores))
    if (version !== since.get(name)) throw conflict(`The store ${name} was migrated meanwhile: try again.`);
}
