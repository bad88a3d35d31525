import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
/** What the oldest supported browsers have, for the package that runs there. */
const ES2023: ts.CompilerOptions = { target: ts.ScriptTarget.ES2023, lib: ['lib.es2023.d.ts'] };
const TARGETS: Record<string, ts.CompilerOptions> = { client: ES2023 };

const [name = '', target = join(ROOT, '.cache/packages', name), ...others] = process.argv.slice(2);
const folder = resolve(target); // npm would read a/b as a repository on GitHub
const source = join(ROOT, 'packages', name);
if (!/^[a-z-]+$/.test(name) || !existsSync(join(source, 'package.json')) || others.length > 0) {
  console.error(readFileSync(new URL('build-package.help.txt', import.meta.url), 'utf8').trim());
  process.exit(2);
}
buildPackage(folder);
console.log(`Built. In your project: npm install $(npm pack ${folder})\nTo publish it:          npm publish ${folder}`);

/** @throws Error with the compiler's messages */
function buildPackage(to: string): void {
  const {
    nx: _,
    private: __,
    devDependencies: ___,
    exports,
    ...manifest
  } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const entries = Object.entries<string>(typeof exports === 'string' ? { '.': exports } : exports).map(
    ([path, file]) => [path, file.replace(/^\.\/src\/(.*)\.ts$/, '$1')] as const,
  );
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  compile(
    [
      ...entries.map(([, entry]) => join(source, 'src', `${entry}.ts`)),
      ...ts.sys.readDirectory(join(source, 'src'), ['.process.ts']),
    ],
    to,
  );
  const built = entries.map(([path, entry]) => [path, { types: `./${entry}.d.ts`, default: `./${entry}.js` }]);
  writeFileSync(
    join(to, 'package.json'),
    `${JSON.stringify({ ...manifest, exports: Object.fromEntries(built) }, undefined, 2)}\n`,
  );
  for (const file of globSync('**/*.{properties,xml}', { cwd: join(source, 'src') }))
    cpSync(join(source, 'src', file), join(to, file));
  copyFileSync(join(source, 'README.md'), join(to, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(to, 'LICENSE'));
}

function compile(rootNames: string[], outDir: string): void {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram({
    rootNames: [...rootNames, ...privateTypes()],
    options: {
      ...options,
      ...TARGETS[name],
      rootDir: join(source, 'src'),
      outDir,
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
    getCanonicalFileName: (file: string) => file,
    getNewLine: () => '\n',
  };
  throw new Error(ts.formatDiagnostics(all, host));
}

/** Our declarations of libraries' private functions, for this package and those that it imports. */
function privateTypes(): string[] {
  return ts.sys.readDirectory(join(ROOT, 'packages'), ['.d.ts'], ['**/node_modules']);
}
