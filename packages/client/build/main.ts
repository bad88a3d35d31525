/** Writes the package as it is published into `.cache/client`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildClient } from './build.ts';

const HELP = readFileSync(new URL('main.help.txt', import.meta.url), 'utf8').trim();
const args = process.argv.slice(2);
if (args.length > 0) {
  console.error(HELP);
  process.exit(2);
}

const folder = join(import.meta.dirname, '../../../.cache/client');
buildClient(folder);
console.log(`Built. In a project of yours: npm install ${folder}\nTo publish it:         npm publish ${folder}`);
