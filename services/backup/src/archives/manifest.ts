import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { errorCode } from '../error-code.ts';
import { STORE_NAMES } from '../stores/store.ts';

export const MANIFEST_FILE = 'manifest.json';

const dump = z.object({
  /** The name of the dump in the archive. */
  file: z.string().regex(/^[a-z]+\.sql$/),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  sizeBytes: z.number().int().nonnegative(),
  /** Rows by table. */
  rows: z.record(z.string(), z.number().int().nonnegative()),
  serverVersion: z.string(),
  /** The newest migration that the store had seen. */
  schemaVersion: z.string().nullable(),
});

const manifest = z.object({
  format: z.literal(1),
  createdAt: z.iso.datetime(),
  stores: z.partialRecord(z.enum(STORE_NAMES), dump),
});

/** What an archive that was made here says about itself. */
export type Manifest = z.infer<typeof manifest>;

/** An archive that is not what its manifest says. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/**
 * Reads the manifest of an extracted archive, and compares every dump that it names with its checksum.
 * Undefined when there is none: then the archive comes from somewhere else.
 * @throws ManifestError
 */
export async function readManifest(dir: string): Promise<Manifest | undefined> {
  let text: string;
  try {
    text = await readFile(join(dir, MANIFEST_FILE), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new ManifestError('The manifest cannot be read.', { cause: error });
  }
  const parsed = manifest.safeParse(parseJson(text));
  if (!parsed.success) throw new ManifestError('The manifest is none of ours, or of a newer version.');
  for (const { file, sha256 } of Object.values(parsed.data.stores)) await checkDump(join(dir, file), file, sha256);
  return parsed.data;
}

/** Undefined when it is none of ours, or of a newer version. */
export function parseManifest(text: string): Manifest | undefined {
  return manifest.safeParse(parseJson(text)).data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function checkDump(path: string, file: string, sha256: string): Promise<void> {
  if (!(await isPlainFile(path))) throw new ManifestError(`The manifest names ${file}, which is not there.`);
  if ((await sha256Of(path)) !== sha256) throw new ManifestError(`${file} is not what the manifest says.`);
}

/** A regular file with no second name. */
export async function isPlainFile(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats !== undefined && stats.isFile() && stats.nlink === 1;
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
