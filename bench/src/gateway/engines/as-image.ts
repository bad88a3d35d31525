import { execFile } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../../..');
const SOURCES = ['packages', 'libs', 'services', 'deploy'];

/** Our sources as an image holds them: as JavaScript, in a folder of their own. Packages of others are links. */
export async function copyAsImage(dir: string): Promise<string> {
  if (existsSync(dir)) return dir;
  const isSource = (path: string) => basename(path) !== 'node_modules';
  for (const name of ['package.json', ...SOURCES])
    cpSync(join(ROOT, name), join(dir, name), { recursive: true, filter: isSource });
  const inWorkspaces = globSync('{packages,libs,services,deploy}/*/node_modules', { cwd: ROOT });
  for (const modules of ['node_modules', ...inWorkspaces]) linkPackages(modules, dir);
  await promisify(execFile)(process.execPath, [join(dir, 'deploy/image/strip-types.ts')]);
  return dir;
}

function linkPackages(modules: string, dir: string): void {
  for (const name of readdirSync(join(ROOT, modules))) {
    const scope = name.startsWith('@')
      ? readdirSync(join(ROOT, modules, name)).map((each) => join(name, each))
      : [name];
    for (const each of scope) {
      const target = relative(ROOT, realpathSync(join(ROOT, modules, each)));
      const isOurs = SOURCES.some((folder) => target.startsWith(`${folder}/`)) && !target.includes('node_modules');
      const link = join(dir, modules, each);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(isOurs ? dir : ROOT, target), link);
    }
  }
}
