import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MissingEngine } from './engine.ts';

const run = promisify(execFile);
const INSTALL_MS = 300_000;

/**
 * A folder below `cacheDir` with these packages, which npm brings once: what is measured beside the product is no part of it.
 * @throws MissingEngine when npm cannot bring them
 */
export async function providePackages(
  cacheDir: string,
  dependencies: Readonly<Record<string, string>>,
): Promise<string> {
  const description = JSON.stringify({ private: true, type: 'module', dependencies });
  const dir = join(cacheDir, `gateways-${createHash('sha256').update(description).digest('hex').slice(0, 12)}`);
  if (existsSync(dir)) return dir;
  // Whole or not there, whoever else does the same at this moment.
  const unfinished = join(cacheDir, `unfinished-${randomUUID()}`);
  mkdirSync(unfinished, { recursive: true });
  try {
    writeFileSync(join(unfinished, 'package.json'), description);
    const quietly = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error'];
    await run('npm', ['install', ...quietly], { cwd: unfinished, timeout: INSTALL_MS });
    renameSync(unfinished, dir);
  } catch (cause) {
    if (existsSync(dir)) return dir;
    const wanted = Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
    throw new MissingEngine(`npm could not install ${wanted.join(' ')}.`, { cause });
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return dir;
}
