import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, '../../.cache/promtool');

/**
 * The path of Prometheus' promtool: what PROMTOOL names, the system's, or the one in Debian's package, which is unpacked
 * into the cache and not installed.
 * @throws Error naming the remedy
 */
export async function providePromtool(): Promise<string> {
  if (process.env.PROMTOOL) return process.env.PROMTOOL;
  const works = await run('promtool', ['--version']).catch(() => undefined);
  if (works) return 'promtool';
  const program = join(CACHE, 'usr/bin/promtool');
  if (existsSync(program)) return program;
  const unfinished = `${CACHE}-${randomUUID()}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const download = () => run('apt-get', ['download', 'prometheus'], { cwd: unfinished });
    await download().catch(() => run('apt-get', ['update', '-qq']).then(download));
    await run('dpkg', ['-x', ...globSync('prometheus_*.deb', { cwd: unfinished }), '.'], { cwd: unfinished });
    renameSync(unfinished, CACHE);
  } catch (cause) {
    if (existsSync(program)) return program; // somebody else was faster
    throw new Error('promtool is needed: install Prometheus, or set PROMTOOL to its path.', { cause });
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return program;
}
