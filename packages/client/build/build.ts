import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const PACKAGE = join(import.meta.dirname, '..');
const ROOT = join(PACKAGE, '../..');
const ENTRIES = { '.': 'index', './react': 'react' };

/**
 * Writes what is published into `folder`: each module as JavaScript with its types, the package's own package.json, the
 * README and the licence. @throws with what the compiler says
 */
export function buildClient(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  compile(folder);
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedPackage(), null, 2)}\n`);
  copyFileSync(join(PACKAGE, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
}

function compile(folder: string): void {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), ts.sys.readFile).config,
    ts.sys,
    ROOT,
  );
  const src = join(PACKAGE, 'src');
  const program = ts.createProgram({
    rootNames: Object.values(ENTRIES).map((name) => join(src, `${name}.ts`)),
    options: {
      ...options,
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts'], // nothing that the oldest supported browsers and Node lack
      rootDir: src,
      outDir: folder,
      noEmit: false,
      declaration: true,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
    },
  });
  const { diagnostics } = program.emit();
  const all = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (all.length === 0) return;
  const host = {
    getCurrentDirectory: () => ROOT,
    getCanonicalFileName: (name: string) => name,
    getNewLine: () => '\n',
  };
  throw new Error(ts.formatDiagnostics(all, host));
}

function publishedPackage(): object {
  const {
    devDependencies: _,
    nx: __,
    private: ___,
    ...kept
  } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const exports = Object.entries(ENTRIES).map(([path, name]) => [
    path,
    { types: `./${name}.d.ts`, default: `./${name}.js` },
  ]);
  return { ...kept, exports: Object.fromEntries(exports) };
}
