import { expect } from 'expect';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { withStandIns } from '../stand-ins.ts';

export interface Test {
  name: string;
  run: () => Promise<void>;
}

const STAND_INS = { '../utils/client': new URL('client.ts', import.meta.url) };
const SOURCES = 'packages/compatibility/src';
const PRODUCTS = 'implementations/_template_library_/products.graphql';

/** Loads the suite's unmodified tests, without Jest except for its `expect`. */
export async function loadTests(dir: string): Promise<Test[]> {
  const built = realpathSync(mkdtempSync(join(tmpdir(), 'taskmesh-audit-')));
  try {
    build(dir, built);
    const files = globSync('dist/tests/*.test.js', { cwd: built }).toSorted();
    return await withStandIns(built, STAND_INS, () => collect(files.map((file) => join(built, file))));
  } finally {
    rmSync(built, { recursive: true });
  }
}

/** Does what the suite's `npm run build` does: compiles to CommonJS, and copies the expected schema of products. */
function build(dir: string, built: string): void {
  const options = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022, esModuleInterop: true };
  for (const file of globSync('{tests,utils}/*.ts', { cwd: join(dir, SOURCES) })) {
    const place = join(built, 'dist', file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(place), { recursive: true });
    const source = readFileSync(join(dir, SOURCES, file), 'utf8');
    writeFileSync(place, transpileModule(source, { compilerOptions: options }).outputText);
  }
  cpSync(join(dir, PRODUCTS), join(built, 'products.graphql'));
}

async function collect(files: readonly string[]): Promise<Test[]> {
  const tests: Test[] = [];
  let group: string[] = [];
  const test = (name: string, run: () => Promise<void>) => tests.push({ name: [...group, name].join(': '), run });
  const describe = (name: string, body: () => void) => {
    group = [name];
    body();
    group = [];
  };
  Object.assign(globalThis, { describe, test, it: test, expect });
  for (const file of files) await import(pathToFileURL(file).href);
  return tests;
}
