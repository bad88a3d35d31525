import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LOAD = `
  const { whyNotLoaded } = await import(${JSON.stringify(join(import.meta.dirname, 'why-not-loaded.ts'))});
  await import(process.argv[1]).catch((error) => console.log(whyNotLoaded(error)));
`;

let dir: string;
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'taskmesh-loaded-'))));
afterEach(() => rmSync(dir, { recursive: true }));

function why(source: string): string {
  const file = join(dir, 'source.ts');
  writeFileSync(file, source);
  const args = ['--input-type=module', '--eval', LOAD, file];
  return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout.trim();
}

describe('sources that cannot be run', () => {
  it.each([
    ['are no TypeScript', 'const a = 1;\nconst b: = 2;\n', /source\.ts:2\n[^]*const b: = 2;\n[^]*SyntaxError/],
    [
      'import what is not exported',
      "import { nope } from 'node:fs';\nnope();\n",
      /source\.ts:1\n[^]*export named 'nope'/,
    ],
    [
      'import a file that is not there',
      "import './gone.ts';\n",
      /Cannot find module .*gone\.ts' imported from .*source\.ts$/,
    ],
  ])('are reported with their place, and without the loader: they %s', (_what, source, message) => {
    expect(why(source)).toMatch(message);
    expect(why(source)).not.toMatch(/^ +at /m);
  });

  it('are reported with the first line of theirs where they failed', () => {
    expect(why('const a: any = 1;\na.b.c();\n')).toMatch(/^TypeError: .*\n +at .*file:\/\/.*source\.ts:2:5\)?$/);
  });
});
