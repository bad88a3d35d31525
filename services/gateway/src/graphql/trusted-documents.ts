import { ConfigError } from '@taskmesh/service';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { GraphQLConfig } from '../config.ts';
import { refusal } from '../supergraph/client-errors.ts';
import { InvalidOperation } from '../supergraph/executor.ts';

const manifestSchema = z.record(z.string().regex(/^[0-9a-f]{64}$/), z.string().min(1));

/** Documents that were approved in advance, and can be run by their hash. */
export interface TrustedDocuments {
  byHash(hash: string): string | undefined;
  /** @throws InvalidOperation when only trusted documents may run, and this is not one */
  check(source: string): void;
}

/** `own` are those of pages that are served here: they are trusted as well. @throws ConfigError when the manifest is unreadable or invalid */
export async function loadTrustedDocuments(
  { trustedDocuments, trustedDocumentsFile }: GraphQLConfig,
  own: readonly string[] = [],
): Promise<TrustedDocuments> {
  if (trustedDocuments === 'off' || trustedDocumentsFile === undefined)
    return { byHash: () => undefined, check: () => undefined };
  const documents = new Map(Object.entries(await readManifest(trustedDocumentsFile)));
  const texts = new Set([...documents.values(), ...own]);
  return {
    byHash: (hash) => documents.get(hash),
    check(source) {
      if (trustedDocuments === 'only' && !texts.has(source))
        throw new InvalidOperation('FORBIDDEN', [refusal('FORBIDDEN', 'Only trusted documents run here.')], 403);
    },
  };
}

async function readManifest(file: string): Promise<Record<string, string>> {
  try {
    const documents = manifestSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    for (const [hash, text] of Object.entries(documents)) {
      if (createHash('sha256').update(text).digest('hex') !== hash)
        throw new Error(`${hash} is not the hash of its document`);
    }
    return documents;
  } catch (error) {
    throw new ConfigError([
      `TRUSTED_DOCUMENTS_FILE must be a JSON object of SHA-256 hashes and their documents: ${String(error)}`,
    ]);
  }
}
