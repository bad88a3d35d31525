import { conflict } from '@taskmesh/contracts';
import { withAdmin } from '../databases/connect.ts';
import { readSchemaVersion } from '../dump/catalogue.ts';
import type { Store, StoreName } from '../databases/store.ts';

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
