import { join } from 'node:path';
import { DUMP_FILES, MAIN_DUMP, type Store, type StoreName } from '../stores/store.ts';
import { isPlainFile, readManifest, type Manifest } from './manifest.ts';

export interface ArchiveDumps {
  dumps: { store: Store; path: string }[];
  /** Absent in an archive from somewhere else. */
  manifest: Manifest | undefined;
}

export interface KnownStores {
  stores: Record<StoreName, Store>;
  /** The store that `database.sql` of a foreign archive is a dump of. */
  mainStore: StoreName;
}

/** An archive that was made here says what it holds; of another one, only the main dump is known. */
export async function readDumps(dir: string, { stores, mainStore }: KnownStores): Promise<ArchiveDumps> {
  const manifest = await readManifest(dir);
  if (!manifest) return { manifest, dumps: [{ store: stores[mainStore], path: join(dir, MAIN_DUMP) }] };
  const dumps = Object.values(stores)
    .filter(({ name }) => manifest.stores[name]?.file === DUMP_FILES[name])
    .map((store) => ({ store, path: join(dir, DUMP_FILES[store.name]) }));
  return { manifest, dumps };
}

/** Without it there is nothing to restore. */
export const hasMainDump = (dir: string): Promise<boolean> => isPlainFile(join(dir, MAIN_DUMP));
