/** Writes the package as it is published into `.cache/client`. */
import { join } from 'node:path';
import { buildClient } from './build.ts';

const folder = join(import.meta.dirname, '../../../.cache/client');
buildClient(folder);
console.log(`Built: npm publish ${folder}`);
