import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Parser, type ReadEntry } from 'tar';
import { MANIFEST_FILE, MAX_MANIFEST_BYTES, parseManifest, type Manifest } from './manifest.ts';

/** In archives made by Taskmesh, the manifest is the first entry. */
const MAX_READ_BYTES = 2 * MAX_MANIFEST_BYTES;

/**
 * Reads the manifest at the start of an archive, and not much more. Undefined when there is none, or it is unreadable.
 */
export async function peekManifest(content: Readable): Promise<Manifest | undefined> {
  const gunzip = createGunzip();
  content.on('error', (error) => gunzip.destroy(error));
  const { parser, text } = createManifestParser();
  let readBytes = 0;
  try {
    for await (const part of content.pipe(gunzip) as AsyncIterable<Buffer>) {
      readBytes += part.length;
      parser.write(part);
      if (text() !== undefined || readBytes > MAX_READ_BYTES) break;
    }
    return parseManifest(text() ?? '');
  } finally {
    content.destroy();
    gunzip.destroy();
  }
}

function createManifestParser() {
  let whole: string | undefined;
  const collect = (entry: ReadEntry) => {
    const parts: Buffer[] = [];
    if (entry.path !== MANIFEST_FILE || entry.type !== 'File' || entry.size > MAX_MANIFEST_BYTES) whole ??= '';
    else
      entry.on('data', (part) => parts.push(part)).on('end', () => (whole ??= Buffer.concat(parts).toString('utf8')));
    entry.resume();
  };
  const parser = new Parser({ maxMetaEntrySize: 64 * 1024, onReadEntry: collect });
  parser.on('error', () => (whole ??= ''));
  return { parser, text: () => whole };
}
