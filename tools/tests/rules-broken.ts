import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Runs in its own process, where ESLint loads plugins as for `npm run lint`. Creates Nx's project graph, which is missing in a
 * fresh clone: Nx's rule would be skipped without it.
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

/** Returns, for each file, the rules that its text breaks. Rules that need types run only with `types`, because they take long. */
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
