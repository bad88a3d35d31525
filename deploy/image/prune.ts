// Removes files from node_modules that nothing loads at run time. Keeps licences, and the readmes of packages that have no
// other licence text.
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Browsers get the built files of these packages, so their dependencies are not needed. */
const SERVED_AS_BUILT = ['graphiql', 'react-dom', 'swagger-ui-dist'];
const UNUSED_FILES =
  /\.map$|\.d\.[cm]?ts$|\.test\.[cm]?[jt]s$|\.(md|markdown|flow|tsbuildinfo)$|\/(__tests__|tests?|benchmarks?|examples?|docs|\.github)\//i;
const LICENCE = /licen[cs]e|notice|copying/i;

interface Package {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  link?: boolean;
  resolved?: string;
}

const lock = JSON.parse(readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8')) as {
  packages: Record<string, Package>;
};
const packages = new Map(Object.entries(lock.packages));

function resolvePackage(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const path = join(at === '.' ? '' : at, 'node_modules', name);
    if (packages.has(path)) return path;
    if (at === '.') return undefined;
  }
}

function findReachable(): Set<string> {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    const { link, resolved, ...dependencyKinds } = packages.get(path) ?? {};
    if (link && resolved) return visit(resolved);
    if (SERVED_AS_BUILT.some((name) => path === `node_modules/${name}`)) return;
    const { dependencies, optionalDependencies, peerDependencies } = dependencyKinds;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = resolvePackage(name, path);
      if (next !== undefined) visit(next);
    }
  };
  for (const part of process.argv.slice(2)) visit(part);
  return found;
}

const needed = findReachable();
for (const path of packages.keys())
  if (path.includes('node_modules') && !needed.has(path)) rmSync(join(ROOT, path), { recursive: true, force: true });

const README = /^readme(\.\w+)?$/i;

/** Whether a file is the readme of a package without a licence file, and so may contain the licence. */
function hasLicence(file: string): boolean {
  if (!README.test(basename(file))) return false;
  const names = readdirSync(dirname(file));
  return names.includes('package.json') && !names.some((name) => LICENCE.test(name));
}

for (const name of readdirSync(ROOT, { recursive: true, encoding: 'utf8' })) {
  if (!UNUSED_FILES.test(name) || LICENCE.test(name)) continue;
  const file = join(ROOT, name);
  // Workspaces are links in node_modules: leave their files alone.
  if (
    statSync(file, { throwIfNoEntry: false })?.isFile() &&
    realpathSync(file).includes('/node_modules/') &&
    !hasLicence(file)
  )
    rmSync(file);
}
