import { execFile } from 'node:child_process';
import { accessSync, constants, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, PlainError } from './plain-error.ts';
import { indent } from './processes/child-process.ts';

const execute = promisify(execFile);
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;

/** Where a program lies, if the search path has it. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).concat('/usr/sbin', '/sbin');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs a program to its end and returns what it printed.
 * @throws PlainError with the end of its output
 */
export async function runProgram(
  command: string,
  args: string[],
  options: { cwd?: string; env?: Record<string, string | undefined>; timeoutMs?: number } = {},
): Promise<string> {
  const { timeoutMs = 15 * 60_000, ...rest } = options;
  try {
    const { stdout, stderr } = await execute(command, args, {
      ...rest,
      timeout: timeoutMs,
      maxBuffer: OUTPUT_MAX_BYTES,
    });
    return stdout + stderr;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }; // what execFile's errors carry
    const output = (stdout + stderr).trim().split('\n').slice(-15).join('\n');
    throw new PlainError(`"${[command, ...args].join(' ')}" failed.${output && `\n${indent(output)}`}`, { cause });
  }
}

/** Whether packages of Debian (or a relative) can be installed: there is apt, and we are root. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined;
}

let installation: Promise<unknown> = Promise.resolve();

/** Installs packages of Debian, one call after the other. No service that they bring is started. */
export function installPackages(packages: string[], log: (line: string) => void): Promise<void> {
  const mine = installation.then(async () => {
    log(`Installing ${packages.join(' and ')} with apt-get (once) …`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    const apt = (...args: string[]) => runProgram('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], { env });
    await apt('update');
    await withoutServices(() => apt('install', '-y', '--no-install-recommends', ...packages));
  });
  installation = mine.catch(() => undefined);
  return mine;
}

const POLICY_FILE = '/usr/sbin/policy-rc.d';

/** Debian asks this file whether a package may start its service. Ours stops saying no when we are gone, even by a kill. */
async function withoutServices<Result>(action: () => Promise<Result>): Promise<Result> {
  const script = `#!/bin/sh\nkill -0 ${process.pid} 2>/dev/null && exit 101\nexit 0\n`;
  try {
    writeFileSync(POLICY_FILE, script, { mode: 0o755, flag: 'wx' });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return action(); // this machine has a policy of its own
    throw error;
  }
  try {
    return await action();
  } finally {
    rmSync(POLICY_FILE, { force: true });
  }
}

/** Docker's command, when its daemon answers. */
export async function findDocker(): Promise<string | undefined> {
  const docker = findProgram('docker');
  if (!docker) return undefined;
  try {
    await runProgram(docker, ['info'], { timeoutMs: 10_000 });
    return docker;
  } catch {
    return undefined;
  }
}
