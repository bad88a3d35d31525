import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Pins the programs, and all that they are built of. */
const MODULE = join(import.meta.dirname, 'go');
const CACHE = join(import.meta.dirname, '../../.cache/go-tools');

const TOOLS = {
  kubeconform: { variable: 'KUBECONFORM', path: 'github.com/yannh/kubeconform/cmd/kubeconform', version: '-v' },
  'kube-linter': {
    variable: 'KUBE_LINTER',
    path: 'golang.stackrox.io/kube-linter/cmd/kube-linter',
    version: 'version',
  },
};

/**
 * The path of a program written in Go: what its variable names, the system's, or one that Go builds once into the cache,
 * which takes minutes.
 * @throws Error naming the remedy
 */
export async function provideGoTool(name: keyof typeof TOOLS): Promise<string> {
  const { variable, path, version } = TOOLS[name];
  const given = process.env[variable];
  if (given) return given;
  const works = await run(name, [version]).catch(() => undefined);
  if (works) return name;
  const pins = createHash('sha256')
    .update(readFileSync(join(MODULE, 'go.mod')))
    .digest('hex');
  const program = join(CACHE, `${name}-${pins.slice(0, 12)}`);
  if (existsSync(program)) return program;
  // Whole or not there, whoever else does the same at this moment.
  const unfinished = join(CACHE, `unfinished-${randomUUID()}`);
  mkdirSync(unfinished, { recursive: true });
  try {
    await run('go', ['build', '-o', join(unfinished, name), path], { cwd: MODULE });
    renameSync(join(unfinished, name), program);
  } catch (cause) {
    const remedy = `install Go, of the version in charts/tools/go/go.mod or newer, or ${name}, or set ${variable} to its path.`;
    throw new Error(`${name} is needed, and could not be built: ${remedy}`, { cause });
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return program;
}
