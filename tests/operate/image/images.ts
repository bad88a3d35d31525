import { findKafka } from '@taskmesh/local';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
/** Kept between runs, so that unchanged layers are not built again. */
const STORE = join(ROOT, '.cache', 'images');
const BASE_PACKAGES = 'ca-certificates,libstdc++6,tzdata';
const BUILD = 'bud --isolation chroot --format docker --layers'.split(' ');
const run = promisify(execFile);

const TARGETS = {
  services: 'localhost/taskmesh',
  all: 'localhost/taskmesh-all',
  servers: 'localhost/taskmesh-servers',
} as const;
export type Target = keyof typeof TARGETS;

/** Returns why images cannot be built and run here; undefined if they can. */
export function findImageProblem(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux is needed';
  const ownBases = process.env.NODE_IMAGE && process.env.RUNTIME_IMAGE;
  const tools = ['buildah', 'runc', ...(ownBases ? [] : ['mmdebstrap'])];
  const folders = (process.env.PATH ?? '').split(delimiter);
  const missing = tools.filter((tool) => !folders.some((folder) => existsSync(join(folder, tool))));
  return missing.length > 0 ? `install ${missing.join(', ')} (apt-get install)` : undefined;
}

async function buildah(...args: string[]): Promise<string> {
  const store = ['--storage-driver', 'overlay', '--root', join(STORE, 'root'), '--runroot', join(STORE, 'run')];
  const { stdout } = await run('buildah', [...store, ...args], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

async function exists(image: string): Promise<boolean> {
  return buildah('inspect', '--type', 'image', image).then(Boolean, () => false);
}

/** Builds a small Debian with this Node and npm, which replaces both base images where no registry is reachable. */
async function provideBase(): Promise<string> {
  const image = `localhost/taskmesh-base:node-${process.versions.node}`;
  if (await exists(image)) return image;
  const npm = await findNpm();
  const root = join(STORE, 'base');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(STORE, { recursive: true });
  const [, suite = 'stable'] = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  await run('mmdebstrap', ['--quiet', '--mode=root', '--variant=minbase', `--include=${BASE_PACKAGES}`, suite, root]);
  await cp(process.execPath, join(root, 'usr/local/bin/node'));
  await cp(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  const container = await buildah('from', 'scratch');
  await buildah('add', '--quiet', container, root, '/');
  await buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container);
  await buildah('commit', '--quiet', '--rm', container, image);
  rmSync(root, { recursive: true });
  return image;
}

/** Returns the folder of the npm in use here, which may differ from the global one. */
async function findNpm(): Promise<string> {
  const { stdout } = await run('npm', ['exec', '--call', 'echo $npm_execpath'], { cwd: ROOT });
  return join(dirname(stdout.trim()), '..');
}

/** Returns options that pass this machine's npm settings to the build as a secret, which no image contains. */
async function npmSettings(file: string): Promise<string[]> {
  const setting = async (name: string) => (await run('npm', ['config', 'get', name], { cwd: ROOT })).stdout.trim();
  const registry = await setting('registry');
  const cafile = await setting('cafile');
  const authorities = cafile === 'null' ? (process.env.NODE_EXTRA_CA_CERTS ?? '') : cafile;
  const own = join(homedir(), '.npmrc');
  const lines = [existsSync(own) ? readFileSync(own, 'utf8') : '', `registry=${registry}`];
  const hasAuthorities = existsSync(authorities);
  if (hasAuthorities) lines.push(`cafile=${authorities}`);
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  const volume = hasAuthorities ? ['--volume', `${authorities}:${authorities}:ro`] : [];
  return ['--secret', `id=npmrc,src=${file}`, ...volume];
}

export interface Image {
  /** The configuration from `buildah inspect`. */
  config: { User: string; Labels: Record<string, string>; Entrypoint: string[]; Cmd?: string[]; Env: string[] };
  /** The path of the root file system, mounted until `close`. */
  root: string;
  close(): Promise<void>;
}

/** Builds an image of the Dockerfile at the repository's root. The image of the servers is based on `all`. */
export async function buildImage(target: Target): Promise<void> {
  if (target === 'servers') return buildServers();
  const base = process.env.NODE_IMAGE && process.env.RUNTIME_IMAGE ? undefined : await provideBase();
  const { NODE_IMAGE = base ?? '', RUNTIME_IMAGE = base ?? '' } = process.env;
  const npmrc = join(STORE, 'npmrc');
  mkdirSync(STORE, { recursive: true });
  try {
    const bases = ['--build-arg', `NODE_IMAGE=${NODE_IMAGE}`, '--build-arg', `RUNTIME_IMAGE=${RUNTIME_IMAGE}`];
    await buildah(...BUILD, '--target', target, '--tag', TARGETS[target], ...bases, ...(await npmSettings(npmrc)), '.');
  } finally {
    rmSync(npmrc, { force: true });
  }
}

async function buildServers(): Promise<void> {
  await buildImage('all');
  const kafka = await findKafka(() => {});
  const file = join(import.meta.dirname, 'servers.Dockerfile');
  const args = ['--file', file, '--tag', TARGETS.servers, '--build-arg', `ALL_IMAGE=${TARGETS.all}`];
  await buildah(...BUILD, ...args, dirname(kafka.classPath));
}

/** Mounts an image that was built. */
export async function openImage(target: Target): Promise<Image> {
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', TARGETS[target]));
  const container = await buildah('from', '--pull-never', TARGETS[target]);
  return {
    config: Docker.config,
    root: await buildah('mount', container),
    close: async () => void (await buildah('rm', container)),
  };
}

/** Writes an image that was built into an archive for `docker load` and containerd. */
export async function exportImage(target: Target, { name, file }: { name: string; file: string }): Promise<void> {
  rmSync(file, { force: true });
  await buildah('push', TARGETS[target], `docker-archive:${file}:${name}`);
}
