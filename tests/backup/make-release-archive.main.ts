import { readFileSync } from 'node:fs';
import { makeReleaseArchive } from './release-archive.ts';

// `POSTGRES_URL=… node tests/backup/make-release-archive.main.ts`, once per release.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
/** What `atEnd` of libs/testing registers, and Jest runs in tests. */
const cleanUps: (() => unknown)[] = [];
Object.assign(globalThis, { [Symbol.for('taskmesh.cleanUps')]: cleanUps });
try {
  console.log(await makeReleaseArchive(String(version)));
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
}
process.exit(0);
