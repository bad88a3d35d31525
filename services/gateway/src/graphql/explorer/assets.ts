import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A file that the page loads, under an address that changes with its content. */
export interface Asset {
  /** What the page calls it. */
  name: string;
  url: string;
  /** The same for every content. */
  route: string;
  type: 'text/javascript' | 'text/css';
  bytes: Buffer;
}

const { resolve } = createRequire(import.meta.url);

/** A prebuilt file of an npm package. */
const packaged = (name: string, file: string) => join(dirname(resolve(`${name}/package.json`)), file);
const own = (file: string) => new URL(file, import.meta.url);

const FILES: { name: string; file: string | URL }[] = [
  { name: 'react.js', file: packaged('react', 'umd/react.production.min.js') },
  { name: 'react-dom.js', file: packaged('react-dom', 'umd/react-dom.production.min.js') },
  { name: 'graphiql.js', file: packaged('graphiql', 'graphiql.min.js') },
  { name: 'graphiql.css', file: packaged('graphiql', 'graphiql.min.css') },
  { name: 'explorer.js', file: own('./explorer.browser.js') },
  { name: 'explorer.css', file: own('./explorer.css') },
];

const urlWith = (hash: string, name: string) => `/graphql/assets/${hash}/${name}`;

/** Reads 1.6 MB. */
export function loadAssets(): Asset[] {
  return FILES.map(({ name, file }) => {
    const bytes = readFileSync(file);
    const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript';
    return { name, url: urlWith(hash, name), route: urlWith(':hash', name), type, bytes };
  });
}
