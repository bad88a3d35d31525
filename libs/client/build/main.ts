/** Writes the package as it is published into `.cache/client`. */
import { join } from 'node:path';
import { buildClient } from './build.ts';

const args = process.argv.slice(2);
if (args.length > 0) {
  console.log(`npm run client:build
Writes the package @taskmesh/client as it is published into .cache/client. To try it in another project: npm install that folder.`);
  process.exit(args.includes('--help') ? 0 : 2);
}

const folder = join(import.meta.dirname, '../../../.cache/client');
buildClient(folder);
console.log(`Built. In a project of yours: npm install ${folder}\nTo publish it:         npm publish ${folder}`);
