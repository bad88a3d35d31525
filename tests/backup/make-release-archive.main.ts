import { readFileSync } from 'node:fs';
import { makeReleaseArchive } from './release-archive.ts';

// `POSTGRES_URL=… node tests/backup/make-release-archive.main.ts`, once per release.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
console.log(await makeReleaseArchive(version));
process.exit(0);
