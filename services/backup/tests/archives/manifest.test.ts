import { makeTempDir } from '@taskmesh/testing';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest, type Manifest } from '../../src/archives/manifest.ts';
import { ownArchive } from '../support/backup-fixture.ts';

const files = (change?: (manifest: Manifest) => unknown) => ownArchive({ tasks: 'tasks', auth: 'auth' }, change);

const OTHERS = 'is not from Taskmesh';

it.each<[string, () => Record<string, string | undefined>, string]>([
  ['is larger than that of any archive made here', () => ({ ...files(), 'manifest.json': JSON.stringify('x'.repeat(256 * 1024)) }), 'larger than'],
  ['was made in the year 0', () => files((m) => (m.createdAt = '0000-01-01T00:00:00.000Z')), OTHERS],
  ['lacks a store', () => files(({ stores }) => Object.assign(stores, { auth: undefined })), OTHERS],
  ['contains an unknown store', () => files(({ stores }) => Object.assign(stores, { more: stores.auth })), OTHERS],
  ['has a newer format', () => files((m) => Object.assign(m, { format: 3 })), OTHERS],
  ['does not say which product made it', () => files((m) => Object.assign(m, { product: undefined })), OTHERS],
  ['contains more tables than any store has',
    () => files(({ stores }) => (stores.tasks.rows = Object.fromEntries([...'x'.repeat(1_001)].map((_, n) => [`t${n}`, 0])))), OTHERS],
  ['gives each store the dump of the other',
    () => files(({ stores }) => Object.assign(stores, { tasks: stores.auth, auth: stores.tasks })), 'the dump of another store'],
  ['contains another size', () => files(({ stores }) => (stores.auth.sizeBytes = 5)), 'auth.sql does not match'],
  ['does not mention every dump', () => ({ ...files(), 'more.sql': '--' }), 'does not name: 1'],
  ['mentions a missing dump', () => ({ ...files(), 'auth.sql': undefined }), 'auth.sql'],
  ['mentions a dump that differs in one byte', () => ({ ...files(), 'auth.sql': 'autk' }), 'auth.sql does not match'],
])('a manifest is refused when it %s', async (_what, content, message) => {
  const dir = makeTempDir();
  for (const [name, text] of Object.entries(content())) if (text !== undefined) await writeFile(join(dir, name), text);
  await expect(readManifest(dir)).rejects.toThrow(message);
}); // prettier-ignore
