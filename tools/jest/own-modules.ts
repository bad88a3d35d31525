import { readFileSync, realpathSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes, type ResolveFnOutput } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '../..');
const TREE = pathToFileURL(ROOT).href;
/** The tree to which node_modules links; another one only in a copy of the tree, as used for mutation tests. */
const LINKED = pathToFileURL(dirname(realpathSync(join(ROOT, 'node_modules')))).href;
const GLOBALS = new URL('globals.mjs', import.meta.url).href;

/** By importing module and specifier. */
const resolved = new Map<string, ResolveFnOutput>();
const stripped = new Map<string, string>();

// A test file is imported with a unique query (`?file=7`), which is passed on to all modules of ours that it imports, so that
// each file gets its own instances of them.
registerHooks({
  resolve(specifier, context, next) {
    const [importer = '', file] = context.parentURL?.split('?file=') ?? [];
    if (file === undefined) return next(specifier, context);
    const key = `${importer} ${specifier}`;
    const known = resolved.get(key);
    const found = known ?? (specifier === '@jest/globals' ? { url: GLOBALS } : next(specifier, context));
    if (!known) resolved.set(key, found);
    return { ...found, url: isOurs(found.url) ? `${inTree(found.url)}?file=${file}` : found.url, shortCircuit: true };
  },

  load(url, context, next) {
    const [module = '', file] = url.split('?file=');
    if (file === undefined || !module.endsWith('.ts')) return next(url, context);
    let source = stripped.get(module);
    if (source === undefined) stripped.set(module, (source = strip(fileURLToPath(module))));
    return { format: 'module', source, shortCircuit: true };
  },
});

function isOurs(url: string): boolean {
  return [TREE, LINKED].some((root) => url.startsWith(`${root}/`)) && !url.includes('/node_modules/');
}

function inTree(url: string): string {
  return url.startsWith(`${TREE}/`) ? url : TREE + url.slice(LINKED.length);
}

/** Strips types. Stacks then show the path, which people and Jest can read. */
function strip(path: string): string {
  return stripTypeScriptTypes(readFileSync(path, 'utf8'), { sourceUrl: path });
}
