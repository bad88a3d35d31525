import { execFile } from 'node:child_process';
import { ROOT } from './steps.ts';

interface Wanted {
  jestArgs: string[];
  long: boolean;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
}

/** Why Jest would run nothing, in a sentence or, where it does not understand its arguments, in its own words. */
export async function whyNoTests(wanted: Wanted): Promise<string | undefined> {
  const { files, complaint } = await listTests(wanted);
  if (files || wanted.signal.aborted) return undefined;
  if (complaint) return complaint;
  const what = wanted.jestArgs.join(' ');
  const isLong = !wanted.long && (await listTests({ ...wanted, long: true })).files;
  return isLong
    ? `Only tests that take longer match ${what}: npm run test:long -- ${what}`
    : `No test file matches ${what}.`;
}

function listTests({ jestArgs, long, env, signal }: Wanted): Promise<{ files: string; complaint: string }> {
  const jest = ['node_modules/jest/bin/jest.js', '--config', 'tools/jest.config.mjs', '--listTests'];
  const options = { cwd: ROOT, env: { ...env, ...(long ? { TASKMESH_LONG: '1' } : {}) }, signal };
  return new Promise((resolve) => {
    execFile(process.execPath, [...jest, ...jestArgs], options, (error, stdout, stderr) =>
      resolve({ files: stdout.trim(), complaint: error ? stderr.trim() || error.message : '' }),
    );
  });
}
