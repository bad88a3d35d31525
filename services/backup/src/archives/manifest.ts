import { parseJson } from '@taskmesh/service';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { DUMP_FILES, MAIN_DUMP, STORE_NAMES, type Store, type StoreName } from '../databases/store.ts';
import { MAX_TABLES, MIB } from './limits.ts';
import { sha256Of } from './uploads.ts';

export const MANIFEST_FILE = 'manifest.json';

/** More than a manifest with that many tables needs. Limited because a process that also serves requests parses it. */
const MAX_MANIFEST_BYTES = MIB / 4;

const dump = z.object({
  file: z.string().regex(/^[a-z]+\.sql$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  sizeBytes: z.number().int().nonnegative(),
  /** Row counts of all tables in the dump. Format 1 omits tables whose rows are excluded. */
  rows: z
    .record(z.string().min(1).max(63), z.number().int().nonnegative())
    .refine((rows) => Object.keys(rows).length <= MAX_TABLES),
  serverVersion: z.string(),
  /** The newest migration applied to the store. */
  schemaVersion: z
    .string()
    .regex(/^[\w.-]{1,100}$/)
    .nullable(),
});

/** PostgreSQL has no year 0, and dates before 1970 cannot be real. */
const createdAt = z.iso.datetime().refine((moment) => moment >= '1970', 'The year is before 1970.');
const common = { createdAt, stores: z.record(z.enum(STORE_NAMES), dump) };
const manifest = z.discriminatedUnion('format', [
  z.object({ format: z.literal(1), ...common }),
  /** `product`: the version of Taskmesh that made the archive. */
  z.object({ format: z.literal(2), product: z.string().regex(/^[\w.+-]{1,50}$/), ...common }),
]);

export type Manifest = z.infer<typeof manifest>;

/** The archive does not match its manifest, or this version cannot restore it. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** Another release can restore the archive, so it does not count as unfit. */
export class OtherReleaseError extends ManifestError {}

/**
 * Reads the manifest of an extracted archive, and compares every dump with it. Returns undefined if there is none, because
 * the archive was made elsewhere.
 * @throws ManifestError
 */
export async function readManifest(dir: string): Promise<Manifest | undefined> {
  const stats = await lstat(join(dir, MANIFEST_FILE)).catch(() => undefined);
  if (!stats) return undefined;
  if (!stats.isFile()) throw new ManifestError('The manifest cannot be read.');
  if (stats.size > MAX_MANIFEST_BYTES)
    throw new ManifestError(`The manifest is larger than ${MAX_MANIFEST_BYTES} bytes.`);
  const parsed = manifest.safeParse(parseJson(await readFile(join(dir, MANIFEST_FILE), 'utf8')));
  if (!parsed.success) throw new ManifestError('The manifest is not from Taskmesh, or from a newer version.');
  const { stores } = parsed.data;
  for (const name of STORE_NAMES)
    if (stores[name].file !== DUMP_FILES[name])
      throw new ManifestError(`The manifest gives the store ${name} the dump of another store.`);
  await checkNames(dir);
  for (const name of STORE_NAMES) await checkDump(dir, stores[name]);
  return parsed.data;
}

/** A dump that the manifest does not name is a mistake, or intended for another program. */
async function checkNames(dir: string): Promise<void> {
  const known = new Set(Object.values(DUMP_FILES));
  const extra = (await readdir(dir)).filter((name) => name.toLowerCase().endsWith('.sql') && !known.has(name));
  if (extra.length > 0) throw new ManifestError(`There are dumps that the manifest does not name: ${extra.length}.`);
}

async function checkDump(dir: string, { file, sha256, sizeBytes }: Manifest['stores'][StoreName]): Promise<void> {
  const path = join(dir, file);
  if (!(await isPlainFile(path))) throw new ManifestError(`The manifest names ${file}, which is missing.`);
  const isSame = (await lstat(path)).size === sizeBytes && (await sha256Of(createReadStream(path))) === sha256;
  if (!isSame) throw new ManifestError(`${file} does not match the manifest.`);
}

/** A regular file with only one name (no hard links). */
async function isPlainFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && stats.isFile() && stats.nlink === 1;
}

export interface ArchivedDump {
  schemaVersion: string | null;
  rows: Record<string, number>;
  /** Whether tables missing from `rows` must be empty, rather than absent. */
  hasUnnamedTables: boolean;
}

export interface FoundDump {
  store: Store;
  path: string;
  /** Absent for archives made elsewhere. */
  archived?: ArchivedDump;
}

/** Lists the dumps: all in the manifest, or only the main dump if the archive was made elsewhere. @throws ManifestError */
export async function readDumps(
  dir: string,
  { stores, mainStore }: { stores: Record<StoreName, Store>; mainStore: StoreName },
): Promise<FoundDump[]> {
  await checkMainDump(dir);
  const manifest = await readManifest(dir);
  if (!manifest) return [{ store: stores[mainStore], path: join(dir, MAIN_DUMP) }];
  return STORE_NAMES.map((name) => {
    const { schemaVersion, rows } = manifest.stores[name];
    const archived = { schemaVersion, rows, hasUnnamedTables: manifest.format === 1 };
    return { store: stores[name], path: join(dir, DUMP_FILES[name]), archived };
  });
}

/** Returns the dumps of the stores `only`, by default all. @throws ManifestError when one is missing */
export function dumpsOf(dumps: FoundDump[], only: readonly StoreName[] | undefined): FoundDump[] {
  if (!only) return dumps;
  const missing = only.find((name) => !dumps.some(({ store }) => store.name === name));
  if (missing) throw new ManifestError(`The archive contains no dump of the store ${missing}.`);
  return dumps.filter(({ store }) => only.includes(store.name));
}

/** @throws ManifestError when the dump that every archive must contain is missing */
export async function checkMainDump(dir: string): Promise<void> {
  if (!(await isPlainFile(join(dir, MAIN_DUMP)))) throw new ManifestError(`it contains no ${MAIN_DUMP}.`);
}
