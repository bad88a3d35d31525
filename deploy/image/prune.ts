// Removes files from node_modules that nothing loads at run time. Keeps licences, and the readmes of packages that have no
// other licence text.
import { readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Browsers get the built files of these packages, so their dependencies are not needed. */
const SERVED_AS_BUILT = ['graphiql', 'react-dom', 'swagger-ui-dist'];
const NEVER_LOADED =
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

function locate(name: string, from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const place = join(at === '.' ? '' : at, 'node_modules', name);
    if (packages.has(place)) return place;
    if (at === '.') return undefined;
  }
}

function reachable(): Set<string> {
  const found = new Set<string>();
  const visit = (place: string) => {
    if (found.has(place)) return;
    found.add(place);
    const { link, resolved, ...needs } = packages.get(place) ?? {};
    if (link && resolved) return visit(resolved);
    if (SERVED_AS_BUILT.some((name) => place === `node_modules/${name}`)) return;
    const { dependencies, optionalDependencies, peerDependencies } = needs;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const next = locate(name, place);
      if (next !== undefined) visit(next);
    }
  };
  for (const part of process.argv.slice(2)) visit(part);
  return found;
}

const needed = reachable();
for (const place of packages.keys())
  if (place.includes('node_modules') && !needed.has(place)) rmSync(join(ROOT, place), { recursive: true, force: true });

const README = /^readme(\.\w+)?$/i;

/** Whether a file is the readme of a package without a licence file, and so may contain the licence. */
function hasLicence(file: string): boolean {
  if (!README.test(basename(file))) return false;
  const names = readdirSync(dirname(file));
  return names.includes('package.json') && !names.some((name) => LICENCE.test(name));
}

for (const name of readdirSync(ROOT, { recursive: true, encoding: 'utf8' })) {
  if (!NEVER_LOADED.test(name) || LICENCE.test(name)) continue;
  const file = join(ROOT, name);
  // Workspaces are links in node_modules: leave their files alone.
  if (
    statSync(file, { throwIfNoEntry: false })?.isFile() &&
    realpathSync(file).includes('/node_modules/') &&
    !hasLicence(file)
  )
    rmSync(file);
}
