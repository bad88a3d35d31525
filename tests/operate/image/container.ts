import type { Image } from './images.ts';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Container = ReturnType<typeof runContainer>;

export interface ContainerOptions {
  args: string[];
  /** `<uid>:<gid>`. @default the user of the image */
  user?: string;
  env?: Record<string, string>;
  /** The folder mounted at /data. If absent, /data is read-only. */
  data?: string;
  /** Folders mounted read-only at the same path. */
  readable?: string[];
  /** The memory limit in bytes. */
  memory?: number;
}

const GRACE_MS = 30_000;

/**
 * Runs an image under the restricted rules of a cluster: a numeric user, a read-only root file system, no capabilities, no new
 * privileges. It uses the network of this machine.
 */
export function runContainer(image: Image, options: ContainerOptions) {
  const bundle = mkdtempSync(join(tmpdir(), 'taskmesh-bundle-'));
  const id = `taskmesh-${randomBytes(6).toString('hex')}`;
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(specification(image, options)));
  const child = spawn('runc', ['--root', join(bundle, 'state'), 'run', '--bundle', bundle, id], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code]) => {
    rmSync(bundle, { recursive: true, force: true });
    return code as number | null;
  });
  return {
    output: () => output,
    ended,
    /** Stops the container as an engine does: SIGTERM, then SIGKILL. */
    async stop() {
      if (child.exitCode === null) child.kill('SIGTERM');
      const kill = setTimeout(() => spawn('runc', ['--root', join(bundle, 'state'), 'kill', id, 'KILL']), GRACE_MS);
      return ended.finally(() => clearTimeout(kill));
    },
  };
}

/** Returns the configuration for an OCI runtime. */
function specification({ config, root }: Image, options: ContainerOptions) {
  const { args, user = config.User, env = {}, data, readable = [], memory } = options;
  const [uid, gid] = user.split(':').map(Number);
  const none: string[] = [];
  const tmpfs = (destination: string, ...more: string[]) => ({
    ...{ destination, type: 'tmpfs', source: 'tmpfs', options: ['nosuid', ...more] },
  });
  const bind = (source: string, destination: string, mode: 'ro' | 'rw') => ({
    ...{ destination, type: 'bind', source, options: ['rbind', 'nosuid', 'nodev', mode] },
  });
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...config.Entrypoint, ...args],
      env: [...config.Env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: '/app',
      capabilities: { bounding: none, effective: none, inheritable: none, permitted: none, ambient: none },
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      tmpfs('/dev', 'strictatime', 'mode=755', 'size=65536k'),
      tmpfs('/dev/shm', 'nodev', 'noexec', 'mode=1777', 'size=65536k'),
      tmpfs('/tmp', 'nodev', 'noexec', 'mode=1777'),
      ...(data ? [bind(data, '/data', 'rw')] : []),
      ...readable.map((folder) => bind(folder, folder, 'ro')),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      ...(memory ? { resources: { memory: { limit: memory } } } : {}),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/sched_debug'],
      readonlyPaths: ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus'],
    },
  };
}
