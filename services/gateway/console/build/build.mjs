import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { CONSOLE } from './sources.mjs';

const SRC = join(CONSOLE, 'src');
const OPERATIONS = join(CONSOLE, '../../../packages/client/src/operations.generated.ts');
const AS_THEY_ARE = ['console.html', 'icon.svg'];
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/** Writes the page, its script and its style sheet into a folder, with compressed versions of the files that it loads. */
export async function buildConsole(folder) {
  mkdirSync(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: { console: join(SRC, 'main.tsx'), style: join(SRC, 'style/style.css') },
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'], // the first versions with light-dark()
    jsx: 'automatic',
    jsxImportSource: 'preact',
    alias: { react: 'preact/compat' }, // for the client's hooks
    tsconfigRaw: {},
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const script = join(folder, 'console.js');
  writeFileSync(script, noticesOf(metafile) + readFileSync(script, 'utf8'));
  writeFileSync(join(folder, 'documents.json'), JSON.stringify(await readDocuments()));
  for (const name of AS_THEY_ARE) copyFileSync(join(SRC, name), join(folder, name));
  for (const name of readdirSync(folder).filter((each) => /\.(js|css|svg)$/.test(each))) {
    const bytes = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, BROTLI));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

/** Returns the licences of the bundled libraries as comments, as these licences require. @throws if a library has none */
function noticesOf({ inputs }) {
  const folders = Object.keys(inputs).map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]);
  return [...new Set(folders)]
    .filter((folder) => folder !== undefined)
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return `/*! ${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n*/\n`;
    })
    .join('');
}

/** Returns the client's operations, for gateways that accept trusted documents only. */
async function readDocuments() {
  const { outputFiles } = await build({ entryPoints: [OPERATIONS], write: false, format: 'esm', tsconfigRaw: {} });
  const operations = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return Object.values(operations);
}
