/** Creates a key for BACKUP_KEY_FILE: `node scripts/run.mjs services/backup/src/archives/make-key-file.ts FILE`. */
import { ignoreOutputErrors } from '@taskmesh/service';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';

ignoreOutputErrors();
const [path] = process.argv.slice(2);
if (!path || path.startsWith('-')) {
  process.stderr.write('Name the key file to create. Its format is that of age-keygen.\n');
  process.exit(2);
}
const identity = await generateX25519Identity();
const recipient = await identityToRecipient(identity);
const text = `# created: ${new Date().toISOString()}\n# public key: ${recipient}\n${identity}\n`;
try {
  await writeFile(path, text, { mode: 0o600, flag: 'wx', flush: true });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
process.stdout.write(
  `Public key: ${recipient}\nKeep a copy of ${resolve(path)} away from the archives: without it, no one can open them.\n`,
);
