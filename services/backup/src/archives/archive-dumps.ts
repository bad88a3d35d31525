import { join } from 'node:path';
import { DUMP_FILES, MAIN_DUMP, STORE_NAMES, type Store, type StoreName } from '../databases/store.ts';
import { isPlainFile, ManifestError, readManifest } from './manifest.ts';

export interface ArchivedDump {
  schemaVersion: string | null;
  rows: Record<string, number>;
  /** Whether tables that are not named there must be empty, rather than absent. */
  hasUnnamedTables: boolean;
}

export interface FoundDump {
  store: Store;
  path: string;
  /** Absent for archives made elsewhere. */
  archived?: ArchivedDump;
}

export interface KnownStores {
  stores: Record<StoreName, Store>;
  /** The store dumped in `database.sql` of an archive made elsewhere. */
  mainStore: StoreName;
}

/** An archive made by Taskmesh lists its dumps in the manifest; any other has only the main dump. */
export async function readDumps(dir: string, { stores, mainStore }: KnownStores): Promise<FoundDump[]> {
  const manifest = await readManifest(dir);
  if (!manifest) return [{ store: stores[mainStore], path: join(dir, MAIN_DUMP) }];
  return STORE_NAMES.map((name) => {
    const { schemaVersion, rows } = manifest.stores[name];
    const archived = { schemaVersion, rows, hasUnnamedTables: manifest.format === 1 };
    return { store: stores[name], path: join(dir, DUMP_FILES[name]), archived };
  });
}

/** The wanted dumps, by default all. @throws ManifestError when one is missing */
export function dumpsOf(dumps: FoundDump[], only: readonly StoreName[] | undefined): FoundDump[] {
  if (!only) return dumps;
  const missing = only.find((name) => !dumps.some(({ store }) => store.name === name));
  if (missing) throw new ManifestError(`The archive holds no dump of the store ${missing}.`);
  return dumps.filter(({ store }) => only.includes(store.name));
}

export const hasMainDump = (dir: string): Promise<boolean> => isPlainFile(join(dir, MAIN_DUMP));
