/** Writes the package as it is published into `.cache/client`. */
import { join } from 'node:path';
import { buildClient } from './build.ts';

if (process.argv.includes('--help')) {
  console.log(`npm run client:build
Writes the package @taskmesh/client as it is published into .cache/client. To try it in another project: npm install that folder.`);
  process.exit();
}

const folder = join(import.meta.dirname, '../../../.cache/client');
buildClient(folder);
console.log(`Built: npm publish ${folder}`);
