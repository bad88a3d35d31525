import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const KNIP = join(ROOT, 'node_modules/knip/bin/knip.js');

const IN_ORDER = {
  'package.json': JSON.stringify({ name: 'sample', type: 'module', private: true }),
  'scripts/run.mjs': "import { used } from '../tools/parts.ts';\n\nused();\n",
  'tools/parts.ts': 'export function used() {}\n',
};

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-unused-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** What is complained of when the repository has these files. */
async function findings(files: Record<string, string>): Promise<string> {
  await cp(join(ROOT, 'knip.jsonc'), join(dir, 'knip.jsonc'));
  for (const [file, text] of Object.entries({ ...IN_ORDER, ...files })) {
    await mkdir(dirname(join(dir, file)), { recursive: true });
    await writeFile(join(dir, file), text);
  }
  const args = [KNIP, '--no-progress', '--no-config-hints'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: dir }, (error, stdout, stderr) =>
      resolve(error || stderr ? `${stdout}${stderr}` : ''),
    );
  });
}

it.each([
  ['a file that nothing uses', 'tools/forgotten.ts', 'export const one = 1;\n', 'Unused files'],
  [
    'an export that no other file uses',
    'tools/parts.ts',
    'export const one = 1;\nexport const used = () => one;\n',
    'Unused exports',
  ],
  [
    'a package that is not named',
    'scripts/run.mjs',
    "import 'unnamed';\nimport { used } from '../tools/parts.ts';\n\nused();\n",
    'Unlisted dependencies',
  ],
  [
    'a package that is not used',
    'package.json',
    JSON.stringify({ name: 'sample', type: 'module', private: true, dependencies: { spare: '1.0.0' } }),
    'Unused dependencies',
  ],
])('%s is refused', async (_what, file, text, finding) => {
  expect(await findings({ [file]: text })).toContain(`${finding} (1)`);
});

it('what is in order is not', async () => {
  expect(await findings({})).toBe('');
});
