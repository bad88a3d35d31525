import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs in a process of its own, where ESLint loads its plugins as it does for `npm run lint`. In a fresh clone Nx has not seen the
 * projects yet, and its rule would be skipped.
 */
const LINT = `
  import { ESLint } from 'eslint';
  import { createProjectGraphAsync, readCachedProjectGraph } from 'nx/src/devkit-exports.js';
  import tseslint from 'typescript-eslint';
  try {
    readCachedProjectGraph();
  } catch {
    await createProjectGraphAsync();
  }
  const { texts, types } = JSON.parse(process.argv[1]);
  const eslint = new ESLint({ overrideConfig: types ? [] : [tseslint.configs.disableTypeChecked] });
  const broken = [];
  for (const { filePath, text } of texts) {
    const [{ messages }] = await eslint.lintText(text, { filePath });
    broken.push(messages.map(({ ruleId, message }) => ruleId ?? message));
  }
  console.log(JSON.stringify(broken));`;

/** For each file, which rules complain when its text is this one. Those that need types only with `types`: that takes long. */
export async function rulesBroken(
  texts: { filePath: string; text: string }[],
  { types }: { types: boolean },
): Promise<string[][]> {
  const input = JSON.stringify({ texts, types });
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', LINT, input], {
    cwd: join(import.meta.dirname, '..', '..'),
    env: { ...process.env, NX_DAEMON: 'false' },
  });
  return JSON.parse(stdout) as string[][]; // what LINT prints
}
