import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The last commit of the release before this one. */
export const RELEASE_BEFORE = { version: '0.1.0', commit: 'b5fc69fc' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Takes the release before this one out of the history and installs its packages, once for all runs: a minute or two.
 * @returns its folder
 * @throws in a clone without history
 */
export function installReleaseBefore(): string {
  const { version, commit } = RELEASE_BEFORE;
  const folder = join(ROOT, '.cache', `release-${version}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 256 * 2 ** 20 });
  execFileSync('tar', ['-x'], { cwd: partial, input: archive });
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: partial, stdio: 'ignore' });
  renameSync(partial, folder); // last: a run that was stopped leaves nothing that looks whole
  return folder;
}
